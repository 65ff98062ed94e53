package dev.aldaba.kit.signin;

/**
 * A started sign-in.
 *
 * @param url redirect the browser to this address
 * @param pending store this in the session of this browser until it returns
 */
public record StartedSignIn(String url, PendingSignIn pending) {}
