/**
 * Signs users in with OAuth 2.0 and OpenID Connect, and renews their tokens. Start with {@link
 * dev.aldaba.kit.signin.SignIn}.
 */
package dev.aldaba.kit.signin;
