package dev.aldaba.kit.live;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import com.fasterxml.jackson.databind.JsonNode;
import dev.aldaba.kit.AldabaClient;
import dev.aldaba.kit.Secret;
import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import dev.aldaba.kit.signin.AuthorizationRequest;
import dev.aldaba.kit.signin.CompletedSignIn;
import dev.aldaba.kit.signin.Session;
import dev.aldaba.kit.signin.SignIn;
import dev.aldaba.kit.signin.TokenStore;
import java.io.IOException;
import java.net.CookieManager;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

/** A running {@code aldaba dev}: its ready line, a browser, and the operator's ingest API. */
final class Dev {
    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Pattern POST_FORM = Pattern.compile("<form\\b[^>]*method=\"post\"[^>]*>.*?</form>", Pattern.DOTALL | Pattern.CASE_INSENSITIVE);
    private static final Pattern ACTION = Pattern.compile("<form\\b[^>]*\\saction=\"([^\"]*)\"");
    private static final Pattern INPUT = Pattern.compile("<input\\b[^>]*>");

    final JsonNode ready;
    final JsonNode person;
    final String tenant;

    Dev() throws IOException {
        String path = System.getenv("ALDABA_DEV");
        assertNotNull(path, "set ALDABA_DEV to a file with the output of `aldaba dev --json`");
        ready = Json.MAPPER.readTree(Files.readAllBytes(Path.of(path)));
        JsonNode found = null;
        for (JsonNode user : ready.path("users")) {
            found = user.path("tenants").size() == 2 ? user : found;
        }
        assertNotNull(found, "no user has two tenants");
        person = found;
        tenant = person.path("tenants").get(1).asText();
    }

    String text(String... names) {
        JsonNode node = ready;
        for (String name : names) {
            node = node.path(name);
        }
        return node.asText();
    }

    SignIn signIn() {
        return SignIn.builder(text("auth_url"), text("client", "client_id"), text("client", "redirect_uri"))
                .clientSecret(Secret.of(text("client", "client_secret"))).build();
    }

    /** Signs the person in through the pages. */
    CompletedSignIn completeSignIn() throws Exception {
        var started = signIn().start(AuthorizationRequest.accounting().and(AuthorizationRequest.payroll()));
        return signIn().finish(started.pending(), browse(started.url()));
    }

    AldabaClient client(Session session) {
        return new AldabaClient(text("base_url"), Secret.of(text("subscription", "primary_key")), session);
    }

    AldabaClient signedInClient() throws Exception {
        return client(new Session(signIn(), TokenStore.inMemory(completeSignIn().tokens())));
    }

    /** Follows redirects and submits forms like a browser, and returns the callback. */
    String browse(String url) throws Exception {
        var browser = HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
        var request = HttpRequest.newBuilder(URI.create(url)).timeout(PATIENCE).build();
        for (int step = 0; step < 12; step++) {
            var response = browser.send(request, HttpResponse.BodyHandlers.ofString());
            var location = response.headers().firstValue("Location");
            if (location.isPresent()) {
                URI next = response.uri().resolve(location.get());
                if (next.toString().startsWith(text("client", "redirect_uri"))) {
                    return next.toString();
                }
                request = HttpRequest.newBuilder(next).timeout(PATIENCE).build();
                continue;
            }
            assertEquals(200, response.statusCode(), response.body());
            request = fillIn(response);
        }
        throw new AssertionError("the sign-in does not end");
    }

    private HttpRequest fillIn(HttpResponse<String> page) {
        var form = POST_FORM.matcher(page.body());
        if (!form.find()) {
            throw new AssertionError("no form: " + page.body());
        }
        var fields = new TreeMap<String, String>();
        for (var inputs = INPUT.matcher(form.group()); inputs.find(); ) {
            String name = attribute(inputs.group(), "name");
            String type = attribute(inputs.group(), "type");
            if (name.equals("tenant")) {
                fields.put("tenant", tenant);
            } else if (!name.isEmpty() && !type.equals("radio") && !type.equals("checkbox")) {
                fields.put(name, attribute(inputs.group(), "value"));
            }
        }
        if (fields.containsKey("password")) {
            fields.put("username", person.path("email").asText());
            fields.put("password", person.path("password").asText());
        }
        var action = ACTION.matcher(form.group());
        action.find();
        return HttpRequest.newBuilder(page.uri().resolve(unescape(action.group(1)))).timeout(PATIENCE)
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(Http.encode(fields))).build();
    }

    private static String attribute(String tag, String name) {
        var found = Pattern.compile("\\s" + name + "=\"([^\"]*)\"").matcher(tag);
        return found.find() ? unescape(found.group(1)) : "";
    }

    private static String unescape(String text) {
        return text.replace("&quot;", "\"").replace("&#39;", "'").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
    }

    static String unique(String name) {
        return name + " " + UUID.randomUUID();
    }

    /** Sends changes as the operator's products do. */
    void ingest(Object... changes) throws Exception {
        var lines = new StringBuilder();
        for (Object change : changes) {
            lines.append(Json.write(change)).append('\n');
        }
        var request = HttpRequest.newBuilder(URI.create(text("operator_url") + "/operator/v1/tenants/" + tenant + "/changes"))
                .timeout(PATIENCE).header("Authorization", "Bearer " + text("operator_token"))
                .header("Content-Type", "application/x-ndjson")
                .POST(HttpRequest.BodyPublishers.ofString(lines.toString())).build();
        var response = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        assertEquals(changes.length, Json.MAPPER.readTree(response.body()).path("accepted").asInt(), response.body());
    }

    /** A new company; returns its id. */
    String company() throws Exception {
        String id = unique("empresa ñ");
        ingest(Map.of("area", "accounting", "resource", "companies", "action", "upsert", "correlationId", id, "data",
                Map.of("vatName", "Panadería Ñandú", "vatNumber", "", "chartOfAccountId", 7, "accountLength", 9)));
        return id;
    }

    static Map<String, Object> customer(String company, String id, String name) {
        return Map.of("area", "accounting", "resource", "customers", "company", company, "action", "upsert",
                "correlationId", id, "user", "maría", "data",
                Map.of("tradeName", name, "accountCode", "430000001", "accountCodeCorrelationId", "account"));
    }
}
