package dev.aldaba.kit;

import java.time.Instant;
import java.util.List;

/**
 * The health of a webhook over the last 24 hours.
 *
 * @param successRate from 0 to 1; null without attempts
 * @param suspension why nothing is sent now; null if the webhook is not suspended
 * @param lost events that will never be delivered: read the list again
 */
public record Health(
        String webhookId, boolean isActive, Instant since, long delivered, long failedAttempts, Double successRate,
        Integer p95Milliseconds, Instant lastDeliveredAt, Instant failingSince, Instant nextAttemptAt,
        long eventsBehind, long recordsWaiting, Handshake handshake, Suspension suspension, EventGap lost, String doubt,
        List<String> warnings, List<Delivery.Attempt> recentAttempts, List<Replay> replays) {

    /** The current handshake: the Acknowledge, or the echo of invoicing. */
    public record Handshake(int number, Instant askedAt, boolean isAccepted, int failedAttempts) {}

    /** Why the service sends nothing. */
    public record Suspension(String reason, Instant since, String explanation) {}

    /** Lost events: those after the first position, up to and including the second. */
    public record EventGap(Instant at, long after, long upto) {}
}
