package dev.aldaba.kit.signin;

import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.databind.JsonNode;
import dev.aldaba.kit.AldabaException;
import dev.aldaba.kit.internal.Http;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.RSAPublicKeySpec;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Predicate;

/** Fetches and caches the metadata and the keys of the identity provider. */
final class Discovery {
    private static final Duration CACHE_LIFETIME = Duration.ofMinutes(5);
    /** Tokens with unknown keys do not cause more frequent requests than this. */
    private static final Duration REFETCH_INTERVAL_MIN = Duration.ofSeconds(10);
    private static final int KEYS_MAX = 50;
    private static final int KEY_BITS_MIN = 2048;

    private final String issuer;
    private final Http http;
    private final Clock clock;
    private Found cached;

    Discovery(String issuer, Http http, Clock clock) {
        this.issuer = issuer;
        this.http = http;
        this.clock = clock;
    }

    record Metadata(
            String issuer,
            @JsonProperty("jwks_uri") String keysUri,
            @JsonProperty("revocation_endpoint") String revocationEndpoint,
            @JsonProperty("end_session_endpoint") String endSessionEndpoint) {}

    private record Found(Metadata metadata, Map<String, RSAPublicKey> keys, Instant at) {}

    Metadata metadata() {
        return find(found -> true).metadata();
    }

    /** The key with this id; null if the issuer has none. Fetches again if the cached keys lack it: it may be new. */
    RSAPublicKey key(String id) {
        return find(found -> found.keys().containsKey(id)).keys().get(id);
    }

    private synchronized Found find(Predicate<Found> isEnough) {
        Instant now = clock.instant();
        if (cached != null) {
            Duration age = Duration.between(cached.at(), now);
            if (age.compareTo(REFETCH_INTERVAL_MIN) < 0 || (age.compareTo(CACHE_LIFETIME) < 0 && isEnough.test(cached))) {
                return cached;
            }
        }
        cached = fetch(now);
        return cached;
    }

    private Found fetch(Instant now) {
        Metadata metadata = get(issuer + "/.well-known/openid-configuration", Metadata.class);
        if (!issuer.equals(metadata.issuer())) {
            throw new AldabaException("the identity provider at this URL has the issuer \"" + metadata.issuer()
                    + "\"; use the URL that it is configured with");
        }
        for (String url : new String[] {metadata.keysUri(), metadata.revocationEndpoint(), metadata.endSessionEndpoint()}) {
            Http.checkUrl("a URL in the metadata of the identity provider", url == null ? "" : url);
        }
        var keys = new HashMap<String, RSAPublicKey>();
        int count = 0;
        for (JsonNode key : get(metadata.keysUri(), JsonNode.class).path("keys")) {
            if (++count <= KEYS_MAX && isForSigning(key)) {
                addKey(keys, key);
            }
        }
        return new Found(metadata, keys, now);
    }

    private static boolean isForSigning(JsonNode key) {
        return key.path("kty").asText().equals("RSA")
                && key.path("alg").asText("RS256").equals("RS256")
                && key.path("use").asText("sig").equals("sig");
    }

    private static void addKey(Map<String, RSAPublicKey> keys, JsonNode key) {
        try {
            var modulus = new BigInteger(1, Base64.getUrlDecoder().decode(key.path("n").asText()));
            var exponent = new BigInteger(1, Base64.getUrlDecoder().decode(key.path("e").asText()));
            if (modulus.bitLength() >= KEY_BITS_MIN) {
                var made = KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(modulus, exponent));
                keys.putIfAbsent(key.path("kid").asText(), (RSAPublicKey) made);
            }
        } catch (IllegalArgumentException | GeneralSecurityException unusable) {
            // Another key may be the right one; without it the token is refused.
            return;
        }
    }

    private <T> T get(String url, Class<T> type) {
        var request = new Http.Request("GET", url, Map.of(), null, true);
        Http.Response response = http.send(request);
        if (!response.isSuccess()) {
            throw Http.error(request.name(), response);
        }
        return Http.parse(request.name(), response, type);
    }
}
