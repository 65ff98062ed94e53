package dev.aldaba.kit.signin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.aldaba.kit.Secret;
import dev.aldaba.kit.SignInRequiredException;
import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import dev.aldaba.kit.signin.IdTokenException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SignInTest {
    private IdentityProvider provider;
    private StartedSignIn started;

    @BeforeEach
    void begin() throws IOException {
        provider = new IdentityProvider();
        started = provider.signIn().start(AuthorizationRequest.accounting().tenant("t 1"));
        provider.nonce = started.pending().nonce();
    }

    @AfterEach
    void end() {
        provider.close();
    }

    /** The callback that an honest identity provider sends. */
    private Map<String, String> callback() {
        return new TreeMap<>(Map.of("code", "c0de", "state", started.pending().state(), "iss", provider.issuer()));
    }

    private CompletedSignIn finish(Map<String, String> callback) {
        return provider.signIn().finish(started.pending(), "http://localhost:8765/callback?" + Http.encode(callback));
    }

    @Test
    void signInCompletes() throws IOException {
        String challenge = IdTokens.base64url(IdTokens.sha256(started.pending().verifier().reveal()));
        assertTrue(started.url().contains("code_challenge=" + challenge) && started.url().contains("acr_values=tenant%3At+1"), started.url());
        var completed = finish(callback());
        assertEquals("maria", completed.identity().sub());
        assertEquals(Secret.of("refresh-0"), completed.tokens().refreshToken());
        String printed = completed.tokens() + " " + started.pending() + provider.signIn();
        assertFalse(printed.contains("access-0") || printed.contains(started.pending().verifier().reveal()) || printed.contains("s3cret"));
        // The browser's session may store the pending sign-in, and a database the tokens, as JSON.
        assertEquals(started.pending(), Json.MAPPER.readValue(Json.write(started.pending()), PendingSignIn.class));
        assertEquals(completed.tokens(), Json.MAPPER.readValue(Json.write(completed.tokens()), Tokens.class));
    }

    private void assertRefused(CallbackException.Reason reason, Consumer<Map<String, String>> change) {
        var callback = callback();
        change.accept(callback);
        assertEquals(reason, assertThrows(CallbackException.class, () -> finish(callback)).reason());
    }

    @Test
    void callbackFaultsAreRefused() {
        assertRefused(CallbackException.Reason.STATE, callback -> callback.put("state", "other"));
        assertRefused(CallbackException.Reason.STATE, callback -> callback.remove("state"));
        assertRefused(CallbackException.Reason.ISSUER, callback -> callback.put("iss", "https://evil.example/auth/core"));
        assertRefused(CallbackException.Reason.INVALID, callback -> callback.remove("iss"));
        assertRefused(CallbackException.Reason.INVALID, callback -> callback.remove("code"));
        assertThrows(CallbackException.class,
                () -> provider.signIn().finish(started.pending(), Http.encode(callback()) + "&code=second"));
        assertThrows(CallbackException.class, () -> provider.signIn().finish(started.pending(), "state=%zz"));
        var denied = callback();
        denied.put("error", "access_denied");
        assertEquals("access_denied", assertThrows(OAuthException.class, () -> finish(denied)).code());
    }

    private void assertRefused(Reason reason, BiConsumer<Map<String, Object>, Map<String, Object>> spoil) {
        provider.spoil = spoil;
        assertEquals(reason, assertThrows(IdTokenException.class, () -> finish(callback())).reason());
    }

    @Test
    void idTokenFaultsAreRefused() {
        long now = Instant.now().getEpochSecond();
        assertRefused(Reason.EXPIRED, (header, claims) -> claims.put("exp", now - 61));
        assertRefused(Reason.EXPIRED, (header, claims) -> claims.remove("exp"));
        assertRefused(Reason.FUTURE, (header, claims) -> claims.put("iat", now + 120));
        assertRefused(Reason.NONCE, (header, claims) -> claims.put("nonce", "other"));
        assertRefused(Reason.ISSUER, (header, claims) -> claims.put("iss", "https://evil.example"));
        assertRefused(Reason.AUDIENCE, (header, claims) -> claims.put("aud", "other"));
        assertRefused(Reason.AUDIENCE, (header, claims) -> claims.put("aud", List.of("panel", "other")));
        assertRefused(Reason.ACCESS_TOKEN, (header, claims) -> claims.put("at_hash", IdTokens.halfHash("other")));
        assertRefused(Reason.MALFORMED, (header, claims) -> claims.remove("sub"));
        assertRefused(Reason.ALGORITHM, (header, claims) -> header.put("alg", "none"));
        assertRefused(Reason.ALGORITHM, (header, claims) -> header.put("alg", "HS256"));
        assertRefused(Reason.KEY, (header, claims) -> header.put("kid", "k9"));
        assertRefused(Reason.KEY, (header, claims) -> header.put("kid", "enc"));
        provider.tamper = token -> token.substring(0, token.lastIndexOf('.'));
        assertRefused(Reason.MALFORMED, (header, claims) -> {});
        provider.tamper = token -> {
            String[] parts = token.split("\\.");
            var payload = new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8).replace("maria", "admin");
            return parts[0] + "." + IdTokens.base64url(payload.getBytes(StandardCharsets.UTF_8)) + "." + parts[2];
        };
        assertRefused(Reason.SIGNATURE, (header, claims) -> {});
        provider.tamper = token -> null;
        assertRefused(Reason.MISSING, (header, claims) -> {});
    }

    @Test
    void callbackIdTokenBelongsToTheCode() {
        provider.spoil = (header, claims) -> claims.put("c_hash", IdTokens.halfHash("another code"));
        var callback = callback();
        callback.put("id_token", provider.idToken(""));
        assertEquals(Reason.CODE, assertThrows(IdTokenException.class, () -> finish(callback)).reason());
    }

    /** Expired tokens in a store that records what is saved, and can fail. */
    private static final class RecordingStore implements TokenStore {
        final List<Tokens> saved = new ArrayList<>();
        Tokens tokens = new Tokens(Secret.of("old"), Instant.EPOCH, Secret.of("refresh-0"), null, "maria");
        RuntimeException failure;

        @Override
        public synchronized Optional<Tokens> load() {
            return Optional.ofNullable(tokens);
        }

        @Override
        public synchronized void save(Tokens next) {
            if (failure != null) {
                throw failure;
            }
            saved.add(next);
            tokens = next;
        }

        @Override
        public synchronized void clear() {
            tokens = null;
        }
    }

    @Test
    void sessionRenewsOnceForAllCallers() throws Exception {
        var store = new RecordingStore();
        var session = new Session(provider.signIn(), store);
        var threads = Executors.newFixedThreadPool(16);
        try {
            for (var token : threads.invokeAll(java.util.Collections.nCopies(16, (Callable<Secret>) session::accessToken))) {
                assertEquals(Secret.of("access-1"), token.get());
            }
        } finally {
            threads.shutdownNow();
        }
        assertEquals(1, provider.refreshes.get());
        assertEquals(List.of(Secret.of("refresh-1")), store.saved.stream().map(Tokens::refreshToken).toList());
        // A refused token that was replaced meanwhile is not renewed again.
        assertEquals(Secret.of("access-1"), session.replaceToken(Secret.of("old")));
        assertEquals(1, provider.refreshes.get());
    }

    @Test
    void sessionHandsOutNoTokenThatWasNotSaved() {
        var store = new RecordingStore();
        store.failure = new IllegalStateException("the disk is full");
        assertThrows(IllegalStateException.class, () -> new Session(provider.signIn(), store).accessToken());
    }

    @Test
    void endedSessionRequiresASignIn() {
        var store = new RecordingStore();
        var session = new Session(provider.signIn(), store);
        provider.refuses = true;
        assertThrows(SignInRequiredException.class, session::accessToken);
        store.clear();
        assertThrows(SignInRequiredException.class, session::accessToken);
    }

    @Test
    void refreshForAnotherUserIsRefused() {
        var tokens = new Tokens(Secret.of("old"), Instant.EPOCH, Secret.of("refresh-0"), null, "eva");
        assertEquals(Reason.SUBJECT, assertThrows(IdTokenException.class, () -> provider.signIn().refresh(tokens)).reason());
    }
}
