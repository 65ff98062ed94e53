package dev.aldaba.kit.receiver;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;

/**
 * The body that a receiver of the accounting family gets.
 *
 * @param timestamp counts 100 ns since the year 1, UTC; see {@link Event.Accounting#time}
 * @param jsonData a JSON document as text: {@link Data}
 */
@JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class)
public record Notification(
        String webhookId, String outgoingId, String conversationId, String tenantId,
        Partition extraPartitionInformation, EventName eventType, long timestamp, String jsonData,
        String userIdentifier) {

    /** The name of an event, in parts and as a whole. */
    @JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class)
    public record EventName(String appName, String domain, String resource, String eventType, String semanticName) {}

    /** Where the record is: its company, and who changed it. Empty in an Acknowledge. */
    @JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class)
    public record Partition(String partitionClientId, String userName) {}

    /**
     * The document in {@code JsonData} of a change.
     *
     * @param version {@code MM/dd/yyyy HH:mm:ss}, UTC
     */
    @JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class)
    public record Data(
            String correlationId, String version, long sequenceVersion, String svcSourceInterface, String svcProcessId,
            String svcSourceAction) {}
}
