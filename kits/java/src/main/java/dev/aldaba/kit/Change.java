package dev.aldaba.kit;

import java.time.Instant;

/**
 * One change in the feed.
 *
 * @param sequenceVersion the position in the tenant's log; store it with your work, and continue the feed after it
 * @param event the semantic name: {@code Svc.ACC.Customers.CustomerCreated}, or {@code Bank.Created} for invoicing
 */
public record Change(
        long sequenceVersion, String event, String correlationId, Instant version, String user, String processId) {}
