package dev.aldaba.kit;

import dev.aldaba.kit.internal.Json;
import java.util.Map;

/**
 * A call before its credentials are added.
 *
 * @param path relative to the base URL, with the query
 * @param context the header {@code context}, or null
 * @param body written as JSON, or null
 * @param etag the header {@code If-None-Match}, or null
 */
record Call(String method, String path, String context, Object body, String etag, boolean isIdempotent) {
    static final String NO_COMPANY = "none";

    static Call get(String path) {
        return new Call("GET", path, null, null, null, true);
    }

    Call inCompany(String company) {
        return new Call(method, path, company == null ? null : Json.write(Map.of("clientId", company)), body, etag, isIdempotent);
    }

    Call ifNoneMatch(String given) {
        return new Call(method, path, context, body, given, isIdempotent);
    }

    String name() {
        return method + " " + path.split("\\?", 2)[0];
    }
}
