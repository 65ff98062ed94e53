package dev.aldaba.kit;

/** There are no tokens, or they cannot be renewed: send the user to sign in again. */
public final class SignInRequiredException extends AldabaException {
    public SignInRequiredException(String reason) {
        super(reason + "; send the user to sign in again");
    }
}
