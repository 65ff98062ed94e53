package dev.aldaba.kit.signin;

import dev.aldaba.kit.Secret;

/**
 * A sign-in between its start and its callback. It belongs to one browser: store it in the session of this browser, for
 * example as JSON.
 */
public record PendingSignIn(String state, String nonce, Secret verifier, boolean expectsIdToken) {}
