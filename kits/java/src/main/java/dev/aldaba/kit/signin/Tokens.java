package dev.aldaba.kit.signin;

import com.fasterxml.jackson.annotation.JsonIgnore;
import dev.aldaba.kit.Secret;
import java.time.Duration;
import java.time.Instant;

/**
 * The tokens of one sign-in. They are not printed; JSON contains them in plain text, so encrypt it before you store it.
 *
 * @param refreshToken only with the scope {@code offline_access}, otherwise null. It can be used once: each renewal
 *     returns the next one
 * @param idToken the last id_token, for signing out; or null
 * @param sub the user, if there was an id_token; or null
 */
public record Tokens(Secret accessToken, Instant expiresAt, Secret refreshToken, Secret idToken, String sub) {
    /** Tokens that expire within this time are renewed. */
    private static final Duration RENEWAL_MARGIN = Duration.ofSeconds(60);

    @JsonIgnore
    boolean isValidAt(Instant now) {
        return now.plus(RENEWAL_MARGIN).isBefore(expiresAt);
    }
}
