package dev.aldaba.kit.signin;

import dev.aldaba.kit.AldabaException;

/** An error of the identity provider; for example, the user declined. */
public final class OAuthException extends AldabaException {
    private final String code;
    private final String description;

    OAuthException(String code, String description) {
        super("the identity provider says " + code + ": " + description);
        this.code = code;
        this.description = description;
    }

    /** The OAuth error code, such as {@code access_denied} or {@code invalid_grant}. */
    public String code() {
        return code;
    }

    /** For people; may be empty. */
    public String description() {
        return description;
    }
}
