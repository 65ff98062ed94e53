package dev.aldaba.kit.receiver;

import dev.aldaba.kit.Change;

/**
 * An event from a delivery or from the change feed, as the inbox sees it.
 *
 * @param outgoingId the id of the delivery; null for the feed
 * @param sequenceVersion the position in the log; 0 for invoicing notifications, which lack it, and for test events
 */
public record Received(String outgoingId, RecordKey record, long sequenceVersion) {
    /**
     * Identifies a record.
     *
     * @param resource as in the semantic name ({@code ACC.Customers}), or the name of an invoicing entity
     * @param company null if the tenant owns the record
     */
    public record RecordKey(String tenant, String resource, String company, String id) {}

    /**
     * A change of the feed, for an inbox that also gets the deliveries of these records.
     *
     * @param company that of the feed; for companies themselves, the id of the record
     */
    public static Received fromFeed(Change change, String tenant, String company) {
        var record = new RecordKey(tenant, resourceOf(change.event()), company, change.correlationId());
        return new Received(null, record, change.sequenceVersion());
    }

    /** {@code Svc.ACC.Customers.CustomerCreated} is of {@code ACC.Customers}, {@code Bank.Created} of {@code Bank}. */
    static String resourceOf(String semanticName) {
        String[] parts = semanticName.split("\\.");
        return switch (parts.length) {
            case 4 -> parts[1] + "." + parts[2];
            case 2 -> parts[0];
            default -> semanticName;
        };
    }
}
