package dev.aldaba.kit.receiver;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpHandler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * Receives the requests of the service. {@link #receive} fits any server; as an {@link HttpHandler} it fits the one of the
 * JDK.
 *
 * <ul>
 *   <li>It answers 401 to a missing or wrong signature.
 *   <li>It answers the Acknowledge of the accounting family and the echo of invoicing.
 *   <li>It answers 413 to a body over the limit.
 *   <li>It calls the handler with every event, and answers 200; where the handler fails, it answers 500 and the service
 *       delivers the event again.
 * </ul>
 *
 * <p>The service waits 5 seconds for the response: put longer work into a queue. It treats a response with a cookie as a
 * failure.
 */
public final class Receiver implements HttpHandler {
    /** Larger than any notification. */
    public static final int BODY_BYTES_MAX = 4 << 20;

    private static final Pattern ECHO =
            Pattern.compile("(?:^|&)echo=([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:&|$)");

    private final Verifier verifier;
    private final EventHandler handler;
    private final Consumer<Exception> onRefused;

    /** Handles an event. */
    @FunctionalInterface
    public interface EventHandler {
        void handle(Event event) throws Exception;
    }

    public Receiver(Verifier verifier, EventHandler handler) {
        this(verifier, handler, refused -> {});
    }

    /** Also tells why a delivery was refused, or its handler failed. The sender does not get the reason. */
    public Receiver(Verifier verifier, EventHandler handler, Consumer<Exception> onRefused) {
        this.verifier = verifier;
        this.handler = handler;
        this.onRefused = onRefused;
    }

    /**
     * A request of any server.
     *
     * @param query the query as it was sent, or null
     * @param header returns the value of a header, or null
     */
    public record Request(String method, String query, UnaryOperator<String> header, InputStream body) {}

    /** The response to send, as {@code text/plain; charset=utf-8}. */
    public record Response(int status, String text) {}

    /** Receives one request. */
    public Response receive(Request request) throws IOException {
        return switch (request.method()) {
            case "GET" -> echo(request.query() == null ? "" : request.query());
            case "POST" -> receiveDelivery(request);
            default -> new Response(405, "Send deliveries with POST.");
        };
    }

    /** The handshake of invoicing. It is not signed, so only a GUID is echoed. */
    private static Response echo(String query) {
        var asked = ECHO.matcher(query);
        return asked.find() ? new Response(200, asked.group(1)) : new Response(400, "GET requires the query echo=<GUID>.");
    }

    private Response receiveDelivery(Request request) throws IOException {
        byte[] body = request.body().readNBytes(BODY_BYTES_MAX + 1);
        if (body.length > BODY_BYTES_MAX) {
            return new Response(413, "The body is too large.");
        }
        try {
            verifier.verify(request.header(), body);
            var event = Event.parse(request.header().apply("webhook-id"), body);
            if (event.isPresent()) {
                handler.handle(event.get());
            }
            return new Response(200, "");
        } catch (Verifier.RefusedException refused) {
            onRefused.accept(refused);
            return new Response(401, "The signature does not match.");
        } catch (Event.InvalidNotificationException invalid) {
            onRefused.accept(invalid);
            return new Response(400, "The body is not a notification.");
        } catch (Exception failed) {
            onRefused.accept(failed);
            return new Response(500, "The event could not be processed. Try again.");
        }
    }

    @Override
    public void handle(HttpExchange exchange) throws IOException {
        try (exchange) {
            Response response = receive(new Request(exchange.getRequestMethod(), exchange.getRequestURI().getRawQuery(),
                    exchange.getRequestHeaders()::getFirst, exchange.getRequestBody()));
            byte[] text = response.text().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
            exchange.sendResponseHeaders(response.status(), text.length == 0 ? -1 : text.length);
            if (text.length > 0) {
                exchange.getResponseBody().write(text);
            }
        }
    }
}
