package dev.aldaba.kit.signin;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Stores the tokens of one user: a row in the application's database, a file, a keyring. */
public interface TokenStore {
    /** The stored tokens; empty if the user is not signed in. */
    Optional<Tokens> load();

    /**
     * Stores the tokens. A renewal invalidates the old refresh token, so this must not return before they are stored
     * durably.
     */
    void save(Tokens tokens);

    /** Deletes the stored tokens. */
    void clear();

    /** A store in memory. */
    static TokenStore inMemory(Tokens tokens) {
        var stored = new AtomicReference<>(tokens);
        return new TokenStore() {
            @Override
            public Optional<Tokens> load() {
                return Optional.ofNullable(stored.get());
            }

            @Override
            public void save(Tokens next) {
                stored.set(next);
            }

            @Override
            public void clear() {
                stored.set(null);
            }
        };
    }
}
