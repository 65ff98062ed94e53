package dev.aldaba.kit.internal;

import com.fasterxml.jackson.databind.JavaType;
import dev.aldaba.kit.AldabaException;
import dev.aldaba.kit.ApiException;
import dev.aldaba.kit.FieldError;
import dev.aldaba.kit.RetryPolicy;
import dev.aldaba.kit.UnreachableException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** Sends requests with retries, and turns error responses into exceptions. Not part of the kit's interface. */
public final class Http {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long FIRST_PAUSE_MILLIS = 200;
    private static final int MESSAGE_CHARS_MAX = 300;

    private final HttpClient client;
    private final RetryPolicy retryPolicy;

    /** Without a client it uses one of its own. Redirects could carry the credentials to another host. */
    public Http(HttpClient client, RetryPolicy retryPolicy) {
        this.client = client != null ? client : HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();
        if (this.client.followRedirects() != HttpClient.Redirect.NEVER) {
            throw new IllegalArgumentException("the HTTP client must not follow redirects: they could carry the credentials to another host");
        }
        this.retryPolicy = retryPolicy;
    }

    /**
     * A request that can be sent several times.
     *
     * @param isIdempotent whether it is retried even if it is unknown whether the service processed it
     */
    public record Request(String method, String url, Map<String, String> headers, String body, boolean isIdempotent) {
        /** Method and URL, without the query, which may contain secrets. */
        public String name() {
            return method + " " + url.split("\\?", 2)[0];
        }
    }

    /** A complete response. */
    public record Response(int status, HttpHeaders headers, byte[] body) {
        public boolean isSuccess() {
            return status >= 200 && status < 300;
        }

        public String header(String name) {
            return headers.firstValue(name).orElse("");
        }
    }

    /** Sends a request and returns the last response, whatever its status. */
    public Response send(Request request) {
        Duration waited = Duration.ZERO;
        for (int attempt = 1; ; attempt++) {
            Response response = null;
            UnreachableException failure = null;
            try {
                response = sendOnce(request);
            } catch (UnreachableException unreachable) {
                failure = unreachable;
            }
            if (failure == null ? response.status() != 429 && response.status() != 503 : !request.isIdempotent()) {
                return orThrow(response, failure);
            }
            Duration asked = failure == null ? retryAfter(response.headers()) : null;
            Duration pause = asked != null ? asked : backoff(attempt);
            waited = waited.plus(pause);
            if (attempt >= retryPolicy.attemptsMax() || waited.compareTo(retryPolicy.waitMax()) > 0) {
                return orThrow(response, failure);
            }
            sleep(pause);
        }
    }

    private static Response orThrow(Response response, UnreachableException failure) {
        if (failure != null) {
            throw failure;
        }
        return response;
    }

    private Response sendOnce(Request request) {
        HttpRequest.Builder built;
        try {
            built = HttpRequest.newBuilder(URI.create(request.url()));
            request.headers().forEach(built::header);
        } catch (IllegalArgumentException invalid) {
            // The message of the exception may contain a header's value.
            throw new AldabaException(request.name() + ": the request cannot be built; a key, a token or an id has characters that are not allowed");
        }
        var publisher = request.body() == null
                ? HttpRequest.BodyPublishers.noBody()
                : HttpRequest.BodyPublishers.ofString(request.body(), StandardCharsets.UTF_8);
        var sent = client.sendAsync(built.method(request.method(), publisher).build(), info -> new LimitedBody());
        try {
            HttpResponse<byte[]> received = sent.get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
            return new Response(received.statusCode(), received.headers(), received.body());
        } catch (ExecutionException failed) {
            throw new UnreachableException(request.name(), failed.getCause());
        } catch (TimeoutException late) {
            sent.cancel(true);
            throw new UnreachableException(request.name(), new IOException("no complete response within " + TIMEOUT.toSeconds() + " s"));
        } catch (InterruptedException interrupted) {
            sent.cancel(true);
            Thread.currentThread().interrupt();
            throw new AldabaException(request.name() + ": interrupted", interrupted);
        }
    }

    /** Half of the pause is random, so that clients which fail together do not retry together. */
    private static Duration backoff(int attempt) {
        long pause = FIRST_PAUSE_MILLIS << Math.min(attempt - 1, 7);
        return Duration.ofMillis(pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1));
    }

    private static Duration retryAfter(HttpHeaders headers) {
        String value = headers.firstValue("Retry-After").orElse("").trim();
        if (value.matches("[0-9]{1,9}")) {
            return Duration.ofSeconds(Long.parseLong(value));
        }
        try {
            var pause = Duration.between(Instant.now(), ZonedDateTime.parse(value, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant());
            return pause.isNegative() ? Duration.ZERO : pause;
        } catch (java.time.DateTimeException none) {
            return null;
        }
    }

    public static void sleep(Duration pause) {
        try {
            Thread.sleep(pause.toMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new AldabaException("interrupted while waiting", interrupted);
        }
    }

    /** The body of an error response. */
    public record ErrorBody(int statusCode, String code, String message, String requestId, List<FieldError> errors) {
        public ErrorBody {
            code = Objects.requireNonNullElse(code, "");
            message = Objects.requireNonNullElse(message, "");
            requestId = Objects.requireNonNullElse(requestId, "");
            errors = errors == null ? List.of() : errors;
        }
    }

    /** The error of a response that is not 2xx. */
    public static ApiException error(String call, Response response) {
        ErrorBody body = null;
        try {
            body = Json.MAPPER.readValue(response.body(), ErrorBody.class);
        } catch (IOException notJson) {
            // Something in front of the service answered: show its text.
        }
        if (body == null) {
            var text = new String(response.body(), StandardCharsets.UTF_8);
            body = new ErrorBody(response.status(), "", text.substring(0, Math.min(text.length(), MESSAGE_CHARS_MAX)), "", List.of());
        }
        return new ApiException(call, response.status(), body.code(), body.message(), body.requestId(), body.errors(),
                retryAfter(response.headers()));
    }

    /** Parses the body of a successful response. */
    public static <T> T parse(String call, Response response, JavaType type) {
        try {
            T value = Json.MAPPER.readValue(response.body(), type);
            if (value != null) {
                return value;
            }
        } catch (IOException invalid) {
            throw new AldabaException(call + ": invalid response; check that the URL is that of the service", invalid);
        }
        throw new AldabaException(call + ": the response is empty; check that the URL is that of the service");
    }

    public static <T> T parse(String call, Response response, Class<T> type) {
        return parse(call, response, Json.MAPPER.constructType(type));
    }

    /** Encodes a query, or a form. Pairs without a value are left out. */
    public static String encode(Map<String, String> pairs) {
        return pairs.entrySet().stream()
                .filter(pair -> pair.getValue() != null && !pair.getValue().isEmpty())
                .map(pair -> pair.getKey() + "=" + URLEncoder.encode(pair.getValue(), StandardCharsets.UTF_8))
                .collect(Collectors.joining("&"));
    }

    public static String segment(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
    }

    /** Checks a URL and removes its trailing slash. It must be https, or http on loopback. */
    public static String checkUrl(String what, String url) {
        URI uri;
        try {
            uri = URI.create(url);
        } catch (IllegalArgumentException invalid) {
            throw new IllegalArgumentException(what + ": \"" + url + "\" is not a URL");
        }
        if (uri.getHost() == null) {
            throw new IllegalArgumentException(what + ": \"" + url + "\" is not an absolute URL; it must begin with https:// and a host");
        }
        if (!"https".equals(uri.getScheme()) && !("http".equals(uri.getScheme()) && isLoopback(uri.getHost()))) {
            throw new IllegalArgumentException(what + ": \"" + url + "\" is not encrypted; plain http is allowed only on loopback");
        }
        if (uri.getQuery() != null || uri.getFragment() != null || uri.getUserInfo() != null) {
            throw new IllegalArgumentException(what + ": \"" + url + "\" must have no query, no fragment and no user name");
        }
        return url.replaceAll("/+$", "");
    }

    private static boolean isLoopback(String host) {
        if (host.equals("localhost") || host.equals("[::1]")) {
            return true;
        }
        try {
            // Only literal addresses, which need no look-up.
            return host.matches("127(\\.[0-9]{1,3}){3}") && InetAddress.getByName(host).isLoopbackAddress();
        } catch (IOException invalid) {
            return false;
        }
    }
}
