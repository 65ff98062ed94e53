package dev.aldaba.kit.signin;

import com.sun.net.httpserver.HttpExchange;
import dev.aldaba.kit.Secret;
import dev.aldaba.kit.TestServer;
import dev.aldaba.kit.internal.Json;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;

/** A small OpenID provider whose next id_token can be spoiled. */
final class IdentityProvider implements AutoCloseable {
    private static final KeyPair KEYS = keys();

    final AtomicInteger refreshes = new AtomicInteger();
    volatile String nonce = "";
    volatile boolean refuses;
    volatile BiConsumer<Map<String, Object>, Map<String, Object>> spoil = (header, claims) -> {};
    volatile UnaryOperator<String> tamper = token -> token;
    private final TestServer server;
    private final SignIn signIn;

    IdentityProvider() throws IOException {
        server = new TestServer(this::serve);
        signIn = SignIn.builder(url(), "panel", "http://localhost:8765/callback").clientSecret(Secret.of("s3cret")).build();
    }

    private static KeyPair keys() {
        try {
            var generator = KeyPairGenerator.getInstance("RSA");
            generator.initialize(2048);
            return generator.generateKeyPair();
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    String url() {
        return server.url();
    }

    String issuer() {
        return server.url() + "/auth/core";
    }

    SignIn signIn() {
        return signIn;
    }

    private void serve(HttpExchange exchange) throws IOException {
        var form = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        switch (exchange.getRequestURI().getPath()) {
            case "/auth/core/.well-known/openid-configuration" -> TestServer.reply(exchange, 200, Json.write(Map.of(
                    "issuer", issuer(), "jwks_uri", issuer() + "/keys", "revocation_endpoint", issuer() + "/revocation",
                    "end_session_endpoint", issuer() + "/endsession")));
            case "/auth/core/keys" -> {
                String n = IdTokens.base64url(((RSAPublicKey) KEYS.getPublic()).getModulus().toByteArray());
                TestServer.reply(exchange, 200, Json.write(Map.of("keys", List.of(
                        Map.of("kid", "k1", "kty", "RSA", "alg", "RS256", "use", "sig", "n", n, "e", "AQAB"),
                        Map.of("kid", "enc", "kty", "RSA", "use", "enc", "n", n, "e", "AQAB"),
                        Map.of("kid", "broken", "kty", "RSA", "n", "*", "e", "*")))));
            }
            case "/auth/core/connect/token" -> token(exchange, form);
            default -> TestServer.reply(exchange, 404, "");
        }
    }

    private void token(HttpExchange exchange, String form) throws IOException {
        if (refuses || !form.contains("client_secret=s3cret")) {
            TestServer.reply(exchange, 400, "{\"error\":\"invalid_grant\",\"error_description\":\"used before\"}");
            return;
        }
        int number = form.contains("grant_type=refresh_token") ? refreshes.incrementAndGet() : 0;
        Map<String, Object> tokens = new HashMap<>(Map.of("access_token", "access-" + number, "expires_in", 3600,
                "token_type", "Bearer", "refresh_token", "refresh-" + number));
        tokens.put("id_token", idToken("access-" + number));
        TestServer.reply(exchange, 200, Json.write(tokens));
    }

    String idToken(String accessToken) {
        long now = Instant.now().getEpochSecond();
        Map<String, Object> header = new HashMap<>(Map.of("alg", "RS256", "kid", "k1"));
        Map<String, Object> claims = new HashMap<>(Map.of("iss", issuer(), "aud", "panel", "sub", "maria", "nonce", nonce,
                "iat", now, "exp", now + 300, "at_hash", IdTokens.halfHash(accessToken)));
        spoil.accept(header, claims);
        String text = part(header) + "." + part(claims);
        try {
            var signature = Signature.getInstance("SHA256withRSA");
            signature.initSign(KEYS.getPrivate());
            signature.update(text.getBytes(StandardCharsets.US_ASCII));
            return tamper.apply(text + "." + IdTokens.base64url(signature.sign()));
        } catch (GeneralSecurityException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static String part(Object value) {
        return IdTokens.base64url(Json.write(value).getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        server.close();
    }
}
