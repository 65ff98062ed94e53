package dev.aldaba.kit;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.time.Instant;
import java.util.List;

/**
 * The delivery of one event. Members are null if the log of the service no longer has them.
 *
 * @param outgoingId the id of the event, the same in every attempt: {@code OutgoingId}, and the header {@code webhook-id}
 * @param status {@code delivered}, {@code waiting} or {@code failed}
 * @param attempts the failed attempts and the replays, oldest first
 * @param body the exact body; only from {@link History#delivery}
 */
public record Delivery(
        String outgoingId, long sequenceVersion, String event, String correlationId, String company, String status,
        List<Attempt> attempts, Instant deliveredAt, Instant nextAttemptAt, String body) {

    /**
     * One attempt to deliver an event.
     *
     * @param occasion {@code event}, {@code handshake}, {@code replay} or {@code test}
     * @param status the HTTP status of the response; null without a response
     */
    public record Attempt(
            String occasion, Instant at, int number, Integer status, boolean succeeded, String reason, String excerpt,
            AttemptTimes milliseconds) {}

    /** How long each phase of an attempt took, in milliseconds. */
    public record AttemptTimes(long resolve, long connect, long tls, @JsonProperty("wait") long waiting, long total) {}
}
