package dev.aldaba.kit.receiver;

import com.fasterxml.jackson.databind.PropertyNamingStrategies;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import java.util.List;

/** The body that a receiver of invoicing gets. */
@JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class)
public record InvoicingNotification(String entity, String entityId, String tenantId, String user, List<Change> changes) {
    /** A member that changed, with its new value as text. */
    @JsonNaming(PropertyNamingStrategies.UpperCamelCaseStrategy.class)
    public record Change(String name, String value) {}
}
