package dev.aldaba.kit;

import java.time.Instant;

/**
 * Events that are sent again, or a test event.
 *
 * @param kind {@code events} or {@code test}
 * @param after the events after this position of the log,
 * @param upto up to and including this one
 */
public record Replay(
        String webhookId, long number, String kind, Instant askedAt, long after, long upto, long delivered, long failed,
        boolean isDone) {}
