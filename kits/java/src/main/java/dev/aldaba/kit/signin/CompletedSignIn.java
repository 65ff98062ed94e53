package dev.aldaba.kit.signin;

/**
 * A completed sign-in.
 *
 * @param identity the user; null if the scope {@code openid} was not requested
 */
public record CompletedSignIn(Tokens tokens, Identity identity) {}
