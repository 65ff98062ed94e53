package dev.aldaba.kit;

import dev.aldaba.kit.internal.Http;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Manages the webhooks of invoicing. */
public final class InvoicingWebhooks {
    private static final String PATH = "/invoicing/api/webhooks";

    private final AldabaClient client;

    InvoicingWebhooks(AldabaClient client) {
        this.client = client;
    }

    private static Call call(String method, String suffix, Object body) {
        return new Call(method, PATH + suffix, null, body, null, true);
    }

    private static String one(String id) {
        return "/" + Http.segment(id);
    }

    /** Creates a webhook. The same subscription returns the same webhook. */
    public InvoicingWebhook subscribe(InvoicingSubscription subscription) {
        return client.typed(call("POST", "", subscription), InvoicingWebhook.class);
    }

    /** All subscriptions that are not deleted. */
    public List<InvoicingWebhook> list() {
        return List.of(client.typed(call("GET", "", null), InvoicingWebhook[].class));
    }

    /** One webhook; empty if it is deleted or belongs to another client. */
    public Optional<InvoicingWebhook> get(String id) {
        return client.typedOrEmpty(call("GET", one(id), null), InvoicingWebhook.class);
    }

    /** Deletes a webhook and returns its last state. Deletion is permanent. */
    public InvoicingWebhook delete(String id) {
        return client.typed(call("DELETE", one(id), null), InvoicingWebhook.class);
    }

    /** Pauses or resumes deliveries. Changes made while paused are not delivered later. */
    public InvoicingWebhook setPaused(String id, boolean isPaused) {
        return client.typed(call("PUT", one(id), Map.of("isPaused", isPaused)), InvoicingWebhook.class);
    }

    /** Replaces the secret. For the hours of the overlap, {@code webhook-signature} has a signature of both secrets. */
    public RotatedSecret rotateSecret(String id, Secret secret, int overlapHours) {
        var body = Map.of("secret", secret, "overlapHours", overlapHours);
        return client.typed(call("PUT", one(id) + "/secret", body), RotatedSecret.class);
    }

    /** Waits until the receiver has accepted the handshake. */
    public void waitUntilEffective(String id, Duration patience) {
        Webhooks.poll("the echo of webhook " + id, patience,
                () -> get(id).map(webhook -> webhook.status().equals("Effective")).orElse(false));
    }

    /** The deliveries, health and replays of a webhook. */
    public History history(String id) {
        return new History(client, PATH + one(id), null);
    }
}
