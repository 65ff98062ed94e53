package dev.aldaba.kit;

import java.time.Instant;

/**
 * The result of replacing a secret.
 *
 * @param oldSecretUntil until when the old secret signs, too; null if it no longer does
 */
public record RotatedSecret(String webhookId, Instant oldSecretUntil) {}
