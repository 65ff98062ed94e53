package dev.aldaba.kit;

import dev.aldaba.kit.internal.Http;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/** Manages the webhooks of one resource of the accounting family. */
public final class Webhooks {
    private static final Duration POLL_INTERVAL = Duration.ofMillis(250);

    private final AldabaClient client;
    private final String path;

    Webhooks(AldabaClient client, Resource resource) {
        this.client = client;
        this.path = resource.path() + "/webhooks";
    }

    /** All of these calls are idempotent, even the POSTs. */
    private Call call(String method, String suffix, Object body) {
        return new Call(method, path + suffix, Call.NO_COMPANY, body, null, true);
    }

    private String change(String method, String suffix, Object body) {
        return client.typed(call(method, suffix, body), OperationResult.class).webhookId();
    }

    /** The semantic names of all events of the resource. */
    public List<String> events() {
        return List.of(client.typed(call("GET", "/events", null), String[].class));
    }

    /**
     * Creates a webhook and returns its id. The same subscription returns the same webhook and enables it, so
     * applications can call this at every start.
     */
    public String subscribe(Subscription subscription) {
        return change("POST", "/subscribe", subscription);
    }

    /** Ends the webhook with exactly this subscription, and returns its id. */
    public String unsubscribe(Subscription subscription) {
        return change("POST", "/unsubscribe", subscription);
    }

    /** All webhooks that are neither deleted nor unsubscribed. */
    public List<Webhook> list() {
        return List.of(client.typed(call("GET", "", null), Webhook[].class));
    }

    /** One webhook, even if it is deleted; empty if it belongs to another client. */
    public Optional<Webhook> get(String id) {
        return client.typedOrEmpty(call("GET", "/" + Http.segment(id), null), Webhook.class);
    }

    /** Enables or disables deliveries. Where the owner had disabled them, they continue with the next event. */
    public void setEnabled(String id, boolean isEnabled) {
        change("PUT", "/status/" + Http.segment(id), Map.of("webhookId", id, "enable", isEnabled));
    }

    /** Changes the URL. Deliveries continue once the new URL has accepted the handshake; no event is lost. */
    public void changeUrl(String id, String url) {
        change("PUT", "/change/" + Http.segment(id), Map.of("webhookId", id, "url", url));
    }

    /** Deletes the webhook. Deletion is permanent. */
    public void delete(String id) {
        change("DELETE", "/delete/" + Http.segment(id), null);
    }

    /** Replaces the secret. For the hours of the overlap, {@code webhook-signature} has a signature of both secrets. */
    public RotatedSecret rotateSecret(String id, Secret secret, int overlapHours) {
        var body = Map.of("secret", secret, "overlapHours", overlapHours);
        return client.typed(call("PUT", "/secret/" + Http.segment(id), body), RotatedSecret.class);
    }

    /** Waits until the receiver has accepted the handshake. */
    public void waitUntilActive(String id, Duration patience) {
        poll("the Acknowledge of webhook " + id, patience, () -> get(id).map(Webhook::isActive).orElse(false));
    }

    /** The deliveries, health and replays of a webhook. */
    public History history(String id) {
        return new History(client, path + "/" + Http.segment(id), Call.NO_COMPANY);
    }

    static void poll(String what, Duration patience, BooleanSupplier isMet) {
        long end = System.nanoTime() + patience.toNanos();
        while (!isMet.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AldabaException(what + " was not accepted within " + patience.toSeconds() + " s");
            }
            Http.sleep(POLL_INTERVAL);
        }
    }
}
