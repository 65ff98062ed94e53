package dev.aldaba.kit;

/** Why a call, a sign-in or a feed failed. The message says what failed, where, and what to do. */
public class AldabaException extends RuntimeException {
    public AldabaException(String message) {
        super(message);
    }

    public AldabaException(String message, Throwable cause) {
        super(message, cause);
    }
}
