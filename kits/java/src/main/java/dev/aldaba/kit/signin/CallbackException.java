package dev.aldaba.kit.signin;

import dev.aldaba.kit.AldabaException;

/** The callback of a sign-in cannot be trusted: ignore it and start the sign-in again. */
public final class CallbackException extends AldabaException {
    /** What is wrong. */
    public enum Reason {
        /** The callback belongs to another browser or is forged. */
        STATE,
        /** The callback comes from another identity provider. */
        ISSUER,
        /** A parameter is missing or repeated. */
        INVALID
    }

    private final Reason reason;

    CallbackException(Reason reason, String message) {
        super("the sign-in failed: " + message + "; ignore this callback and start the sign-in again");
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
