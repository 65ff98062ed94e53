package dev.aldaba.kit;

/**
 * An invoicing webhook.
 *
 * @param status {@code Pending} until the receiver has accepted the handshake, then {@code Effective}; or {@code Paused},
 *     {@code Disabled} or {@code Deleted}
 * @param doubt why the receiver's host may not belong to the subscriber; null if there is no doubt
 */
public record InvoicingWebhook(
        String id, String uri, String entity, String action, boolean isPaused, String applicationName,
        String description, String status, String doubt) {}
