package dev.aldaba.kit.receiver;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.aldaba.kit.internal.Json;
import java.io.IOException;
import java.time.Instant;
import java.util.Optional;

/** A change of a record. */
public sealed interface Event {
    /** The id of the event, the same in every attempt and replay; null if a proxy removed the header. */
    String outgoingId();

    /** The tenant that owns the record. */
    String tenantId();

    /** The id of the record that changed. */
    String recordId();

    /** Whether it is a test event, which the owner of the webhook asked for. It belongs to no record. */
    boolean isTest();

    /** The event as the inbox sees it. */
    Received received();

    /**
     * A change in the accounting family. It does not contain the record: read it by its correlationId in the context of
     * its company.
     */
    record Accounting(Notification notification, Notification.Data data) implements Event {
        /** Ticks at 1970-01-01. */
        private static final long UNIX_EPOCH_TICKS = 621_355_968_000_000_000L;

        private static final long TICKS_PER_SECOND = 10_000_000;

        @Override
        public String outgoingId() {
            return notification.outgoingId();
        }

        @Override
        public String tenantId() {
            return notification.tenantId();
        }

        /** The company that owns the record; for a company, its own id. */
        public String company() {
            var partition = notification.extraPartitionInformation();
            return partition == null ? null : partition.partitionClientId();
        }

        /** The whole name: {@code Svc.ACC.Customers.CustomerCreated}. */
        public String semanticName() {
            return notification.eventType().semanticName();
        }

        /** When the change was made. */
        public Instant time() {
            long ticks = notification.timestamp() - UNIX_EPOCH_TICKS;
            return Instant.ofEpochSecond(Math.floorDiv(ticks, TICKS_PER_SECOND), Math.floorMod(ticks, TICKS_PER_SECOND) * 100);
        }

        @Override
        public String recordId() {
            return data.correlationId();
        }

        @Override
        public boolean isTest() {
            return data.sequenceVersion() == 0;
        }

        @Override
        public Received received() {
            var record = new Received.RecordKey(tenantId(), Received.resourceOf(semanticName()), company(), recordId());
            return new Received(outgoingId(), record, data.sequenceVersion());
        }
    }

    /** A change in invoicing. */
    record Invoicing(String outgoingId, InvoicingNotification notification) implements Event {
        @Override
        public String tenantId() {
            return notification.tenantId();
        }

        @Override
        public String recordId() {
            return notification.entityId();
        }

        @Override
        public boolean isTest() {
            return recordId().equals("00000000-0000-0000-0000-000000000000");
        }

        @Override
        public Received received() {
            return new Received(outgoingId, new Received.RecordKey(tenantId(), notification.entity(), null, recordId()), 0);
        }
    }

    /**
     * Parses a body. Verify its signature first: this does not. Empty for an Acknowledge, the handshake of the accounting
     * family, which is answered with 200.
     *
     * @param outgoingId the header {@code webhook-id}
     */
    static Optional<Event> parse(String outgoingId, byte[] body) throws InvalidNotificationException {
        try {
            JsonNode node = Json.MAPPER.readTree(body);
            if (!node.isObject()) {
                throw new InvalidNotificationException("it is not a JSON object");
            }
            if (node.path("EventType").path("EventType").asText().equals("Acknowledge")) {
                return Optional.empty();
            }
            if (node.has("Entity")) {
                var notification = Json.MAPPER.treeToValue(node, InvoicingNotification.class);
                return Optional.of(new Invoicing(outgoingId, requireMembers(notification, notification.entityId(), notification.tenantId())));
            }
            var notification = Json.MAPPER.treeToValue(node, Notification.class);
            requireMembers(node, notification.outgoingId(), notification.eventType(), notification.jsonData());
            var data = Json.MAPPER.readValue(notification.jsonData(), Notification.Data.class);
            return Optional.of(new Accounting(notification, requireMembers(data, data, data == null ? null : data.correlationId())));
        } catch (JsonProcessingException invalid) {
            throw new InvalidNotificationException(invalid.getOriginalMessage());
        } catch (IOException invalid) {
            throw new InvalidNotificationException(invalid.getMessage());
        }
    }

    private static <T> T requireMembers(T value, Object... members) throws InvalidNotificationException {
        for (Object member : members) {
            if (member == null) {
                throw new InvalidNotificationException("it has neither the members of an accounting notification nor those of an invoicing one");
            }
        }
        return value;
    }

    /** A body that is not a notification, although its signature may be valid. */
    final class InvalidNotificationException extends Exception {
        InvalidNotificationException(String reason) {
            super("the body is not a notification: " + reason);
        }
    }
}
