package dev.aldaba.kit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.net.http.HttpClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class AldabaClientTest {
    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger renewals = new AtomicInteger();
    private TestServer server;

    @AfterEach
    void stop() {
        server.close();
    }

    private AldabaClient serve(HttpHandler handler) throws IOException {
        server = new TestServer(exchange -> {
            calls.incrementAndGet();
            handler.handle(exchange);
        });
        return new AldabaClient(server.url() + "/", Secret.of("k3y"), tokens(), null, new RetryPolicy(3, Duration.ofMinutes(1)));
    }

    private TokenSource tokens() {
        return new TokenSource() {
            @Override
            public Secret accessToken() {
                return Secret.of("old");
            }

            @Override
            public Secret replaceToken(Secret refused) {
                renewals.incrementAndGet();
                return Secret.of(refused.reveal() + "-renewed");
            }
        };
    }

    private static void page(HttpExchange exchange, int pages, String... ids) throws IOException {
        exchange.getResponseHeaders().set("X-Pagination", "{\"totalCount\":3,\"pageSize\":2,\"currentPage\":1,\"totalPages\":" + pages + "}");
        exchange.getResponseHeaders().set("X-Sequence-Version", "41");
        TestServer.reply(exchange, 200, List.of(ids).stream()
                .map(id -> "{\"correlationId\":\"" + id + "\",\"version\":\"2026-11-15T08:30:00.1234567Z\",\"sequenceVersion\":\"7\",\"total\":1.5}")
                .collect(Collectors.joining(",", "[", "]")));
    }

    private record Own(double total) {}

    @Test
    void listReadsAllPages() throws IOException {
        var headers = new ArrayList<String>();
        var client = serve(exchange -> {
            var sent = exchange.getRequestHeaders();
            headers.add(sent.getFirst("Ocp-Apim-Subscription-Key") + " " + sent.getFirst("Authorization") + " " + sent.getFirst("context"));
            if (exchange.getRequestURI().getQuery().contains("pageNumber=1&pageSize=2")) {
                page(exchange, 2, "a", "b");
            } else {
                page(exchange, 2, "c");
            }
        });
        var records = client.records(Resource.JOURNALS, "café 😀").pageSize(2).stream().toList();
        assertEquals(List.of("a", "b", "c"), records.stream().map(StoredRecord::correlationId).toList());
        assertEquals(7, records.get(0).sequenceVersion());
        assertEquals(new Own(1.5), records.get(1).as(Own.class));
        assertEquals("k3y Bearer old {\"clientId\":\"caf\\u00E9 \\uD83D\\uDE00\"}", headers.get(1));
        assertThrows(IllegalArgumentException.class, () -> client.companies().pageSize(1001));
    }

    @Test
    void busyServiceIsAskedAgain() throws IOException {
        var client = serve(exchange -> {
            if (calls.get() < 3) {
                exchange.getResponseHeaders().set("Retry-After", "0");
                TestServer.reply(exchange, calls.get() == 1 ? 429 : 503, "");
            } else {
                page(exchange, 1, "a");
            }
        });
        assertEquals(1, client.companies().page(1).items().size());
        assertEquals(3, calls.get());
    }

    @Test
    void longRetryAfterIsAnError() throws IOException {
        var client = serve(exchange -> {
            exchange.getResponseHeaders().set("Retry-After", "3600");
            TestServer.reply(exchange, 429, "");
        });
        var refused = assertThrows(ApiException.class, () -> client.companies().page(1));
        assertEquals(Duration.ofHours(1), refused.retryAfter().orElseThrow());
        assertEquals(1, calls.get());
    }

    @Test
    void onlyIdempotentCallsAreRepeatedWithoutAResponse() throws IOException {
        var client = serve(HttpExchange::close);
        assertThrows(UnreachableException.class, () -> client.companies().page(1));
        int attempts = calls.get();
        // The JDK's client repeats a GET once by itself.
        assertTrue(attempts >= 3, "only " + attempts + " attempts");
        assertThrows(UnreachableException.class, () -> client.webhooks(Resource.CUSTOMERS).history("id").test());
        assertEquals(attempts + 1, calls.get());
    }

    @Test
    void refusedTokenIsRenewedOnce() throws IOException {
        var client = serve(exchange -> {
            if (exchange.getRequestHeaders().getFirst("Authorization").equals("Bearer old-renewed")) {
                page(exchange, 1, "a");
            } else {
                exchange.getResponseHeaders().set("WWW-Authenticate", "Bearer error=\"invalid_token\"");
                TestServer.reply(exchange, 401, "");
            }
        });
        client.companies().page(1);
        assertEquals(1, renewals.get());
    }

    @Test
    void wrongKeyDoesNotRenewTheToken() throws IOException {
        var client = serve(exchange -> TestServer.reply(exchange, 401,
                "{\"statusCode\":401,\"code\":\"denied\",\"message\":\"Access denied\",\"requestId\":\"r1\",\"errors\":[{\"code\":\"invalid_key\",\"message\":\"m\"}]}"));
        var refused = assertThrows(ApiException.class, () -> client.companies().page(1));
        assertTrue(refused.code().equals("denied") && refused.hasCode("denied") && refused.hasCode("invalid_key") && refused.requestId().equals("r1") && refused.status() == 401);
        assertEquals(0, renewals.get());
        assertFalse((refused + client.toString() + Secret.of("k3y")).contains("k3y"));
    }

    @Test
    void redirectIsNotFollowed() throws IOException {
        var client = serve(exchange -> {
            exchange.getResponseHeaders().set("Location", "/elsewhere");
            TestServer.reply(exchange, 302, "");
        });
        assertThrows(ApiException.class, () -> client.companies().page(1));
        assertEquals(1, calls.get());
        var following = HttpClient.newBuilder().followRedirects(HttpClient.Redirect.ALWAYS).build();
        assertThrows(IllegalArgumentException.class,
                () -> new AldabaClient(server.url(), Secret.of("k3y"), tokens(), following, RetryPolicy.DEFAULT));
    }

    @Test
    void missingRecordIsEmpty() throws IOException {
        var paths = new ArrayList<String>();
        var client = serve(exchange -> {
            paths.add(exchange.getRequestURI().getRawPath());
            TestServer.reply(exchange, 404, "");
        });
        assertTrue(client.customer("c", "a/b ñ").isEmpty());
        assertEquals(List.of("/accounting/api/customers/a%2Fb%20%C3%B1"), paths);
    }

    private static String change(int number, String event) {
        return "{\"sequenceVersion\":\"" + number + "\",\"event\":\"" + event
                + "\",\"correlationId\":\"x\",\"version\":\"2026-11-15T08:30:00.1234567Z\",\"user\":\"u\",\"processId\":\"p\"}";
    }

    @Test
    void feedResumesAfterTheLastChange() throws IOException {
        var asked = new ArrayList<String>();
        var client = serve(exchange -> {
            String query = exchange.getRequestURI().getQuery();
            asked.add(query.substring(0, query.indexOf('&')));
            TestServer.reply(exchange, 200, switch (asked.get(asked.size() - 1)) {
                case "after=5" -> "[" + change(6, "Bank.Created") + "," + change(8, "Bank.Created") + "]";
                case "after=6" -> "[" + change(8, "Bank.Created") + "]";
                default -> "[]";
            });
        });
        Feed feed = client.invoicingChanges(5);
        assertEquals(6, feed.next().sequenceVersion());
        // The second change was fetched but not handed out, so it is not skipped.
        Feed resumed = client.invoicingChanges(feed.position());
        assertEquals(8, resumed.next().sequenceVersion());
        assertFalse(resumed.hasNext());
        assertEquals(List.of("after=5", "after=6", "after=8"), asked);
    }

    @Test
    void feedBelowTheFloor() throws IOException {
        var client = serve(exchange -> TestServer.reply(exchange, 410, "{\"message\":\"The feed begins after 1200. List again.\"}"));
        var below = assertThrows(BelowFloorException.class, () -> client.changes(Resource.CUSTOMERS, "c", 3).hasNext());
        assertEquals(1200, below.floor());
    }

    @Test
    void snapshotIsReadAgainAfterADeletion() throws IOException {
        var lists = new AtomicInteger();
        var feeds = new AtomicInteger();
        var client = serve(exchange -> {
            if (!exchange.getRequestURI().getPath().endsWith("/changes")) {
                lists.incrementAndGet();
                page(exchange, 1, "a");
            } else {
                TestServer.reply(exchange, 200, feeds.incrementAndGet() == 1 ? "[" + change(42, "Svc.ACC.Journals.JournalDeleted") + "]" : "[]");
            }
        });
        assertEquals(41, client.records(Resource.JOURNALS, "c").snapshot().position());
        assertEquals(2, lists.get());
    }

    @Test
    void otherInputs() throws IOException {
        serve(HttpExchange::close);
        String link = "<https://evil.example/x?cursor=1>; rel=\"prev\", <https://evil.example/x?cursor=2&a=b>; rel=\"next\"";
        assertEquals("cursor=2&a=b", History.nextQuery(link));
        assertEquals("'O''Neill'", AldabaClient.quote("O'Neill"));
        for (String url : List.of("http://api.example.com", "api.example.com", "https://user@a.example", "https://a.example/?q=1", "http://127.evil.example")) {
            assertThrows(IllegalArgumentException.class, () -> new AldabaClient(url, Secret.of("k"), tokens()), url);
        }
        var unsendable = new AldabaClient(server.url(), Secret.of("k3y\nX: 1"), tokens());
        var refused = assertThrows(AldabaException.class, () -> unsendable.companies().page(1));
        assertFalse(refused.getMessage().contains("k3y"));
    }
}
