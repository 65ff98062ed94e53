package dev.aldaba.kit;

import java.time.Duration;

/**
 * How often and how long a call is retried.
 *
 * @param attemptsMax the maximum number of attempts, including the first
 * @param waitMax the maximum total time between attempts; if {@code Retry-After} asks for more, the call fails at once
 */
public record RetryPolicy(int attemptsMax, Duration waitMax) {
    public static final RetryPolicy DEFAULT = new RetryPolicy(4, Duration.ofMinutes(1));

    public RetryPolicy {
        if (attemptsMax < 1) {
            throw new IllegalArgumentException("attemptsMax must be at least 1");
        }
    }
}
