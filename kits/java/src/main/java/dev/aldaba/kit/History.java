package dev.aldaba.kit;

import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The delivery history of one webhook. */
public final class History {
    private static final Pattern NEXT = Pattern.compile("<[^>?]*\\?([^>]*)>\\s*;\\s*rel=\"next\"");

    private final AldabaClient client;
    private final String path;
    private final String context;

    History(AldabaClient client, String path, String context) {
        this.client = client;
        this.path = path;
        this.context = context;
    }

    /** A replay that is sent twice sends the events twice, so a POST is not idempotent. */
    private Call call(String method, String suffix, Object body) {
        return new Call(method, path + suffix, context, body, null, !method.equals("POST"));
    }

    /** All deliveries, newest first. */
    public Iterable<Delivery> deliveries() {
        return deliveries(null, null);
    }

    /**
     * The deliveries, newest first.
     *
     * @param status {@code delivered}, {@code waiting} or {@code failed}; null for all
     * @param since of events at or after this time; null for all
     */
    public Iterable<Delivery> deliveries(String status, Instant since) {
        var query = new TreeMap<String, String>();
        query.put("pageSize", "100");
        query.put("status", status);
        query.put("since", since == null ? null : since.toString());
        return () -> new PagedIterator<>() {
            private String next = Http.encode(query);

            @Override
            protected List<Delivery> fetch() {
                var call = call("GET", "/deliveries?" + next, null);
                Http.Response response = client.send(call);
                next = nextQuery(response.header("Link"));
                hasMore = next != null;
                return Http.parse(call.name(), response, Json.MAPPER.getTypeFactory().constructCollectionType(List.class, Delivery.class));
            }
        };
    }

    /** The query of the link to the next page. Without its host, which must not get the credentials. */
    static String nextQuery(String link) {
        var found = NEXT.matcher(link);
        return found.find() ? found.group(1) : null;
    }

    /** One delivery with its body; empty if it does not belong to this webhook. */
    public Optional<Delivery> delivery(String outgoingId) {
        return client.typedOrEmpty(call("GET", "/deliveries/" + Http.segment(outgoingId), null), Delivery.class);
    }

    /** Sends one delivery again, with the same id and body. */
    public Replay replayOne(String outgoingId) {
        return client.typed(call("POST", "/deliveries/" + Http.segment(outgoingId) + "/replay", null), Replay.class);
    }

    /** Sends all events between two times again; up to now where the second is null. */
    public Replay replay(Instant from, Instant to) {
        Map<String, Object> body = new HashMap<>(Map.of("from", from));
        if (to != null) {
            body.put("to", to);
        }
        return client.typed(call("POST", "/replay", body), Replay.class);
    }

    /** Sends a test event. */
    public Replay test() {
        return client.typed(call("POST", "/test", null), Replay.class);
    }

    /** The health of the webhook. */
    public Health health() {
        return client.typed(call("GET", "/health", null), Health.class);
    }
}
