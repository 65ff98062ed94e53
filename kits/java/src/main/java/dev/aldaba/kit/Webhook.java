package dev.aldaba.kit;

import java.time.Instant;
import java.util.List;

/**
 * A webhook of the accounting family.
 *
 * @param isActive whether it delivers: it is enabled, its receiver accepted the handshake, and the service has not
 *     disabled it
 * @param deletedAt null if it is not deleted
 */
public record Webhook(
        String id, String thirdPartyApplicationName, String url, String tenantId, Secret secret, boolean isActive,
        boolean isDeleted, Instant deletedAt, List<EventDescriptor> events, String userIdentifier) {

    /** The name of an event, in parts and as a whole. */
    public record EventDescriptor(String appName, String domain, String resource, String eventType, String semanticName) {}
}
