package dev.aldaba.kit.signin;

import static dev.aldaba.kit.signin.IdTokenException.Reason;

import com.fasterxml.jackson.databind.JsonNode;
import dev.aldaba.kit.internal.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.Signature;
import java.time.Clock;
import java.util.Arrays;
import java.util.Base64;

/**
 * Verifies id_tokens: RS256 with a key of the issuer, and the claims of this sign-in. No other algorithm is accepted,
 * whatever the header says.
 */
final class IdTokens {
    private static final int TOKEN_CHARS_MAX = 16 * 1024;
    /** The allowed difference between clocks. */
    private static final long LEEWAY_SECONDS = 60;

    private final String issuer;
    private final String clientId;
    private final Discovery discovery;
    private final Clock clock;

    IdTokens(String issuer, String clientId, Discovery discovery, Clock clock) {
        this.issuer = issuer;
        this.clientId = clientId;
        this.discovery = discovery;
        this.clock = clock;
    }

    /**
     * The claims that a token must have; those that are null are not checked.
     *
     * @param code the code of the same response
     * @param accessToken the access token of the same response
     * @param sub the user of the previous id_token
     */
    record Expected(String nonce, String code, String accessToken, String sub) {}

    Identity verify(String token, Expected expected) {
        String[] parts = token.split("\\.", -1);
        if (token.length() > TOKEN_CHARS_MAX || parts.length != 3) {
            throw new IdTokenException(Reason.MALFORMED);
        }
        JsonNode header = decode(parts[0]);
        if (!header.path("alg").asText().equals("RS256")) {
            throw new IdTokenException(Reason.ALGORITHM);
        }
        var key = discovery.key(header.path("kid").asText());
        if (key == null) {
            throw new IdTokenException(Reason.KEY);
        }
        try {
            var signature = Signature.getInstance("SHA256withRSA");
            signature.initVerify(key);
            signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
            if (!signature.verify(bytes(parts[2]))) {
                throw new IdTokenException(Reason.SIGNATURE);
            }
        } catch (GeneralSecurityException invalid) {
            throw new IdTokenException(Reason.SIGNATURE);
        }
        return checkClaims(decode(parts[1]), expected);
    }

    /** Checks the claims of a token whose signature is valid. */
    private Identity checkClaims(JsonNode claims, Expected expected) {
        long now = clock.instant().getEpochSecond();
        var identity = new Identity(claims.path("sub").asText(), claims);
        check(issuer.equals(claims.path("iss").textValue()), Reason.ISSUER);
        check(isForClient(claims), Reason.AUDIENCE);
        check(claims.path("exp").isNumber() && now < claims.path("exp").asLong() + LEEWAY_SECONDS, Reason.EXPIRED);
        check(claims.path("iat").isNumber() && claims.path("iat").asLong() <= now + LEEWAY_SECONDS, Reason.FUTURE);
        check(expected.nonce() == null || expected.nonce().equals(claims.path("nonce").textValue()), Reason.NONCE);
        check(expected.code() == null || halfHash(expected.code()).equals(claims.path("c_hash").textValue()), Reason.CODE);
        // With an access token, at_hash is optional.
        check(expected.accessToken() == null || !claims.has("at_hash")
                || halfHash(expected.accessToken()).equals(claims.path("at_hash").textValue()), Reason.ACCESS_TOKEN);
        check(!identity.sub().isEmpty(), Reason.MALFORMED);
        check(expected.sub() == null || expected.sub().equals(identity.sub()), Reason.SUBJECT);
        return identity;
    }

    private static void check(boolean holds, Reason reason) {
        if (!holds) {
            throw new IdTokenException(reason);
        }
    }

    /** Whether the audience is this client. With several audiences, azp must name it, too. */
    private boolean isForClient(JsonNode claims) {
        JsonNode audience = claims.path("aud");
        if (!audience.isArray()) {
            return clientId.equals(audience.textValue());
        }
        boolean isNamed = false;
        for (JsonNode one : audience) {
            isNamed |= clientId.equals(one.textValue());
        }
        return isNamed && (audience.size() == 1 || clientId.equals(claims.path("azp").textValue()));
    }

    private static byte[] bytes(String part) {
        try {
            return Base64.getUrlDecoder().decode(part);
        } catch (IllegalArgumentException invalid) {
            throw new IdTokenException(Reason.MALFORMED);
        }
    }

    private static JsonNode decode(String part) {
        try {
            JsonNode decoded = Json.MAPPER.readTree(bytes(part));
            check(decoded.isObject(), Reason.MALFORMED);
            return decoded;
        } catch (IOException invalid) {
            throw new IdTokenException(Reason.MALFORMED);
        }
    }

    static byte[] sha256(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException("this Java has no SHA-256", impossible);
        }
    }

    static String base64url(byte[] bytes) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
    }

    /** The left half of a SHA-256 hash, in base64url. */
    static String halfHash(String text) {
        return base64url(Arrays.copyOf(sha256(text), 16));
    }
}
