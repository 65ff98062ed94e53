package dev.aldaba.kit;

/** There was no complete response. Idempotent calls were retried before. */
public final class UnreachableException extends AldabaException {
    public UnreachableException(String call, Throwable cause) {
        super(call + ": no response (" + cause + "); check that the URL is right and reachable, then try again", cause);
    }
}
