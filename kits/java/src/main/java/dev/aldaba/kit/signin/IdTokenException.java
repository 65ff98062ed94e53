package dev.aldaba.kit.signin;

import dev.aldaba.kit.AldabaException;

/** An id_token cannot be trusted: start the sign-in again. */
public final class IdTokenException extends AldabaException {
    /** What is wrong with the id_token. */
    public enum Reason {
        MISSING("it is missing"),
        MALFORMED("it is not a valid JWT"),
        ALGORITHM("it is not signed with RS256"),
        KEY("the issuer has no such key"),
        SIGNATURE("its signature is wrong"),
        ISSUER("it was issued by another issuer"),
        AUDIENCE("it is for another client"),
        EXPIRED("it has expired, or this machine's clock is ahead"),
        FUTURE("it was issued in the future, or this machine's clock is behind"),
        NONCE("its nonce is not the one that was sent"),
        CODE("it belongs to another code (c_hash)"),
        ACCESS_TOKEN("it belongs to another access token (at_hash)"),
        SUBJECT("it is for another user than before");

        private final String text;

        Reason(String text) {
            this.text = text;
        }
    }

    private final Reason reason;

    IdTokenException(Reason reason) {
        super("the id_token cannot be trusted: " + reason.text + "; start the sign-in again");
        this.reason = reason;
    }

    public Reason reason() {
        return reason;
    }
}
