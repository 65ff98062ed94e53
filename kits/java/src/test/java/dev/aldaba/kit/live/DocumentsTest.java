package dev.aldaba.kit.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JavaType;
import com.fasterxml.jackson.databind.JsonNode;
import dev.aldaba.kit.Account;
import dev.aldaba.kit.Change;
import dev.aldaba.kit.Company;
import dev.aldaba.kit.Customer;
import dev.aldaba.kit.Delivery;
import dev.aldaba.kit.FieldError;
import dev.aldaba.kit.Health;
import dev.aldaba.kit.InvoicingSubscription;
import dev.aldaba.kit.InvoicingWebhook;
import dev.aldaba.kit.OperationResult;
import dev.aldaba.kit.PayrollCompany;
import dev.aldaba.kit.Replay;
import dev.aldaba.kit.Resource;
import dev.aldaba.kit.RotatedSecret;
import dev.aldaba.kit.Subscription;
import dev.aldaba.kit.Webhook;
import dev.aldaba.kit.internal.Json;
import dev.aldaba.kit.receiver.InvoicingNotification;
import dev.aldaba.kit.receiver.Notification;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The types of the kit have the members of {@code /openapi.json}, so that they cannot drift. */
class DocumentsTest {
    private static final String CUSTOMERS = "/accounting/api/customers";
    private static final String INVOICING = "/invoicing/api/webhooks";

    private final Set<Class<?>> compared = new HashSet<>();
    private JsonNode document;

    @BeforeEach
    void read() throws Exception {
        var request = HttpRequest.newBuilder(URI.create(new Dev().text("base_url") + "/openapi.json")).build();
        document = Json.MAPPER.readTree(HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofInputStream()).body());
    }

    private JsonNode resolve(JsonNode node) {
        while (node.has("$ref")) {
            node = document.at(node.path("$ref").asText().substring(1));
        }
        return node;
    }

    private JsonNode at(JsonNode from, String... names) {
        JsonNode node = from;
        for (String name : names) {
            node = resolve(node.path(name));
            assertFalse(node.isMissingNode(), "the document lacks " + String.join("/", names));
        }
        return node;
    }

    /** The schema of the body of a request or response; of the items where it is an array. */
    private JsonNode body(JsonNode holder) {
        JsonNode schema = at(holder, "content", "application/json", "schema");
        return schema.path("type").asText().equals("array") ? at(schema, "items") : schema;
    }

    private JsonNode ok(String path, String method) {
        return body(at(document, "paths", path, method, "responses", "200"));
    }

    private JsonNode request(String path, String method) {
        return body(at(document, "paths", path, method, "requestBody"));
    }

    /** The properties of a schema, with those of all its parts. */
    private Map<String, JsonNode> members(JsonNode schema) {
        var found = new TreeMap<String, JsonNode>();
        for (String kind : new String[] {"allOf", "oneOf", "anyOf"}) {
            schema.path(kind).forEach(part -> found.putAll(members(resolve(part))));
        }
        schema.path("properties").properties().forEach(member -> found.putIfAbsent(member.getKey(), member.getValue()));
        return found;
    }

    private void compare(JsonNode schema, Class<?> type) {
        if (!compared.add(type)) {
            return;
        }
        var members = members(schema);
        var properties = Json.MAPPER.getSerializationConfig().introspect(Json.MAPPER.constructType(type)).findProperties();
        var found = new TreeSet<String>();
        for (var property : properties) {
            found.add(property.getName());
            JavaType inner = property.getPrimaryType();
            JsonNode node = resolve(members.getOrDefault(property.getName(), document.path("nothing")));
            if (inner.isCollectionLikeType()) {
                inner = inner.getContentType();
                node = resolve(node.path("items"));
            }
            if (inner.getRawClass().isRecord() && !members(node).isEmpty()) {
                compare(node, inner.getRawClass());
            }
        }
        assertEquals(members.keySet(), found, type.getSimpleName());
    }

    @Test
    void typesMatchTheDocument() {
        compare(ok("/accounting/api/companies", "get"), Company.class);
        compare(ok(CUSTOMERS, "get"), Customer.class);
        compare(ok("/accounting/api/accounts/{correlationId}", "get"), Account.class);
        assertEquals(Set.of("correlationId", "state", "version", "sequenceVersion"), members(ok("/accounting/api/suppliers", "get")).keySet());
        compare(ok("/payroll/api/companies", "get"), PayrollCompany.class);
        compare(ok(CUSTOMERS + "/changes", "get"), Change.class);
        JsonNode refused = body(at(document, "paths", CUSTOMERS, "get", "responses", "400"));
        compare(at(refused, "properties", "errors", "items"), FieldError.class);
        assertTrue(Set.of("statusCode", "code", "message", "requestId", "errors").containsAll(members(refused).keySet()),
                "the kit does not read all of an error");
        compare(request(CUSTOMERS + "/webhooks/subscribe", "post"), Subscription.class);
        compare(ok(CUSTOMERS + "/webhooks/subscribe", "post"), OperationResult.class);
        compare(ok(CUSTOMERS + "/webhooks/{webhookId}", "get"), Webhook.class);
        compare(ok(CUSTOMERS + "/webhooks/secret/{webhookId}", "put"), RotatedSecret.class);
        compare(ok(CUSTOMERS + "/webhooks/{webhookId}/deliveries", "get"), Delivery.class);
        compare(ok(CUSTOMERS + "/webhooks/{webhookId}/health", "get"), Health.class);
        compare(request(INVOICING, "post"), InvoicingSubscription.class);
        compare(ok(INVOICING, "get"), InvoicingWebhook.class);
        for (JsonNode webhook : document.path("webhooks")) {
            if (resolve(webhook).has("post")) {
                JsonNode schema = body(at(resolve(webhook), "post", "requestBody"));
                compare(schema, members(schema).containsKey("Entity") ? InvoicingNotification.class : Notification.class);
            }
        }
        assertTrue(compared.containsAll(Set.of(Notification.class, Notification.Partition.class, InvoicingNotification.class,
                InvoicingNotification.Change.class, Webhook.EventDescriptor.class, Delivery.Attempt.class, Delivery.AttemptTimes.class,
                Health.Suspension.class, Health.EventGap.class, Health.Handshake.class, Replay.class)), compared.toString());
    }

    @Test
    void resourcesMatchTheDocument() {
        var wanted = new TreeSet<String>();
        for (var path : document.path("paths").properties()) {
            if (path.getKey().endsWith("/webhooks/subscribe")) {
                wanted.add(path.getKey().replace("/webhooks/subscribe", ""));
            }
        }
        var found = new TreeSet<String>();
        for (Resource resource : Resource.values()) {
            found.add(resource.path());
        }
        assertEquals(19, found.size());
        assertEquals(wanted, found);
    }

    @Test
    void eventNamesMatchTheService() throws Exception {
        var client = new Dev().signedInClient();
        for (Resource resource : Resource.values()) {
            assertEquals(resource.eventTypes(), client.webhooks(resource).events(), resource.path());
        }
    }
}
