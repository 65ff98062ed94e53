package dev.aldaba.kit.signin;

import dev.aldaba.kit.Secret;
import dev.aldaba.kit.SignInRequiredException;
import dev.aldaba.kit.TokenSource;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Provides valid access tokens of one signed-in user. It is safe for concurrent use.
 *
 * <ul>
 *   <li>If the token has expired, it is renewed once, however many callers need it.
 *   <li>New tokens are saved before any caller gets them.
 *   <li>Several processes may share a store: each first checks whether another one has renewed the tokens.
 * </ul>
 */
public final class Session implements TokenSource {
    private final SignIn signIn;
    private final TokenStore store;
    private final ReentrantLock renewal = new ReentrantLock();

    /** A session whose tokens are in the store, or will be. */
    public Session(SignIn signIn, TokenStore store) {
        this.signIn = signIn;
        this.store = store;
    }

    @Override
    public Secret accessToken() {
        Tokens tokens = load();
        return isValid(tokens) ? tokens.accessToken() : replaceToken(tokens.accessToken());
    }

    /** Renews the tokens, unless the stored access token already differs from the refused one. */
    @Override
    public Secret replaceToken(Secret refused) {
        renewal.lock();
        try {
            Tokens tokens = load();
            if (!tokens.accessToken().equals(refused) && isValid(tokens)) {
                return tokens.accessToken();
            }
            return renew(tokens).accessToken();
        } finally {
            renewal.unlock();
        }
    }

    private Tokens renew(Tokens tokens) {
        Tokens renewed;
        try {
            renewed = signIn.refresh(tokens);
        } catch (OAuthException refused) {
            if (!refused.code().equals("invalid_grant")) {
                throw refused;
            }
            // Another process may have renewed the tokens, longer ago than the service's grace period.
            Tokens now = load();
            if (!Objects.equals(now.refreshToken(), tokens.refreshToken()) && isValid(now)) {
                return now;
            }
            throw new SignInRequiredException("the sign-in has ended (" + refused.description() + ")");
        }
        store.save(renewed);
        return renewed;
    }

    /** Deletes the stored tokens and revokes them. They are deleted even if the revocation fails. */
    public void signOut() {
        Optional<Tokens> tokens = store.load();
        store.clear();
        tokens.ifPresent(signIn::revoke);
    }

    private boolean isValid(Tokens tokens) {
        return tokens.isValidAt(signIn.clock().instant());
    }

    private Tokens load() {
        return store.load().orElseThrow(() -> new SignInRequiredException("no user is signed in"));
    }
}
