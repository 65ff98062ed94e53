package dev.aldaba.kit.signin;

import com.fasterxml.jackson.annotation.JsonProperty;
import dev.aldaba.kit.AldabaException;
import dev.aldaba.kit.RetryPolicy;
import dev.aldaba.kit.Secret;
import dev.aldaba.kit.SignInRequiredException;
import dev.aldaba.kit.internal.Http;
import dev.aldaba.kit.internal.Json;
import java.io.IOException;
import java.net.URLDecoder;
import java.net.http.HttpClient;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;

/**
 * An OpenID Connect client of the identity provider. It is safe for concurrent use.
 *
 * <pre>{@code
 * var signIn = SignIn.builder("https://auth.example.com", "client id", "https://panel.example/callback")
 *         .clientSecret(Secret.of("…")).build();
 * StartedSignIn started = signIn.start(AuthorizationRequest.accounting());
 * // Redirect the browser to started.url(), and store started.pending() in its session. When it returns:
 * CompletedSignIn completed = signIn.finish(pending, urlOfTheCallback);
 * }</pre>
 */
public final class SignIn {
    private static final long EXPIRES_IN_SECONDS = 3600;
    private static final int CALLBACK_CHARS_MAX = 16 * 1024;
    private static final Set<String> CALLBACK_PARAMETERS =
            Set.of("state", "iss", "error", "error_description", "code", "id_token");

    private final String issuer;
    private final String clientId;
    private final Secret clientSecret;
    private final String redirectUri;
    private final Clock clock;
    private final Http http;
    private final Discovery discovery;
    private final IdTokens idTokens;
    private final SecureRandom random = new SecureRandom();

    private SignIn(Builder builder) {
        issuer = Http.checkUrl("the URL of the identity provider", builder.authUrl) + "/auth/core";
        clientId = Objects.requireNonNull(builder.clientId, "the client id is missing");
        clientSecret = builder.clientSecret;
        redirectUri = Objects.requireNonNull(builder.redirectUri, "the redirect URI is missing");
        clock = builder.clock;
        http = new Http(builder.httpClient, builder.retryPolicy);
        discovery = new Discovery(issuer, http, clock);
        idTokens = new IdTokens(issuer, clientId, discovery, clock);
    }

    /** The URL is that of the identity provider without a path. */
    public static Builder builder(String authUrl, String clientId, String redirectUri) {
        return new Builder(authUrl, clientId, redirectUri);
    }

    /** Builds a {@link SignIn}. */
    public static final class Builder {
        private final String authUrl;
        private final String clientId;
        private final String redirectUri;
        private Secret clientSecret;
        private HttpClient httpClient;
        private RetryPolicy retryPolicy = RetryPolicy.DEFAULT;
        private Clock clock = Clock.systemUTC();

        private Builder(String authUrl, String clientId, String redirectUri) {
            this.authUrl = authUrl;
            this.clientId = clientId;
            this.redirectUri = redirectUri;
        }

        /** The secret of the client; public clients have none. */
        public Builder clientSecret(Secret secret) {
            clientSecret = secret;
            return this;
        }

        /** An HTTP client of your own, which must not follow redirects. */
        public Builder httpClient(HttpClient client) {
            httpClient = client;
            return this;
        }

        public Builder retryPolicy(RetryPolicy policy) {
            retryPolicy = policy;
            return this;
        }

        /** For tests. */
        public Builder clock(Clock given) {
            clock = given;
            return this;
        }

        public SignIn build() {
            return new SignIn(this);
        }
    }

    Clock clock() {
        return clock;
    }

    /** Starts a sign-in, with a random state, nonce and PKCE verifier. */
    public StartedSignIn start(AuthorizationRequest request) {
        var pending = new PendingSignIn(random(16), random(16), Secret.of(random(32)), request.expectsIdToken());
        var query = new TreeMap<>(request.toParameters());
        query.put("client_id", clientId);
        query.put("response_type", "code");
        query.put("redirect_uri", redirectUri);
        query.put("state", pending.state());
        query.put("nonce", pending.nonce());
        query.put("code_challenge", IdTokens.base64url(IdTokens.sha256(pending.verifier().reveal())));
        query.put("code_challenge_method", "S256");
        return new StartedSignIn(issuer + "/connect/authorize?" + Http.encode(query), pending);
    }

    private String random(int count) {
        var bytes = new byte[count];
        random.nextBytes(bytes);
        return IdTokens.base64url(bytes);
    }

    /**
     * Finishes a sign-in: checks the callback against the pending sign-in, exchanges the code, and verifies the id_token.
     * Delete the pending sign-in afterwards, whatever the result.
     *
     * @param callback the URL of the callback, its query, or the body of a {@code form_post}
     */
    public CompletedSignIn finish(PendingSignIn pending, String callback) {
        Map<String, String> parameters = checkedCallback(pending, callback);
        String code = parameters.get("code");
        Identity identity = null;
        if (parameters.containsKey("id_token")) {
            identity = idTokens.verify(parameters.get("id_token"), new IdTokens.Expected(pending.nonce(), code, null, null));
        }
        TokenResponse response = tokenRequest(Map.of("grant_type", "authorization_code", "code", code,
                "redirect_uri", redirectUri, "code_verifier", pending.verifier().reveal()));
        if (response.idToken() != null) {
            String sub = identity == null ? null : identity.sub();
            identity = idTokens.verify(response.idToken(), new IdTokens.Expected(pending.nonce(), null, response.accessToken(), sub));
        } else if (pending.expectsIdToken()) {
            throw new IdTokenException(IdTokenException.Reason.MISSING);
        }
        return new CompletedSignIn(tokens(response, null, identity == null ? null : identity.sub()), identity);
    }

    private Map<String, String> checkedCallback(PendingSignIn pending, String callback) {
        Map<String, String> parameters = parseCallback(callback);
        // Check the sender first: even an error must not be trusted before.
        if (!pending.state().equals(parameters.get("state"))) {
            throw new CallbackException(CallbackException.Reason.STATE, "the state is not the one that was sent");
        }
        if (!parameters.containsKey("iss")) {
            throw new CallbackException(CallbackException.Reason.INVALID, "the parameter iss is missing");
        }
        if (!issuer.equals(parameters.get("iss"))) {
            throw new CallbackException(CallbackException.Reason.ISSUER, "the callback comes from another issuer");
        }
        if (parameters.containsKey("error")) {
            throw new OAuthException(parameters.get("error"), parameters.getOrDefault("error_description", ""));
        }
        if (parameters.getOrDefault("code", "").isEmpty()) {
            throw new CallbackException(CallbackException.Reason.INVALID, "the parameter code is missing");
        }
        return parameters;
    }

    private static Map<String, String> parseCallback(String callback) {
        if (callback.length() > CALLBACK_CHARS_MAX) {
            throw new CallbackException(CallbackException.Reason.INVALID, "it is longer than any valid callback");
        }
        String query = callback.substring(callback.indexOf('?') + 1).split("#", 2)[0];
        var parameters = new HashMap<String, String>();
        try {
            for (String pair : query.split("&")) {
                String[] parts = pair.split("=", 2);
                String name = URLDecoder.decode(parts[0], StandardCharsets.UTF_8);
                String value = parts.length == 1 ? "" : URLDecoder.decode(parts[1], StandardCharsets.UTF_8);
                if (parameters.put(name, value) != null && CALLBACK_PARAMETERS.contains(name)) {
                    throw new CallbackException(CallbackException.Reason.INVALID, "the parameter " + name + " appears twice");
                }
            }
        } catch (IllegalArgumentException invalid) {
            throw new CallbackException(CallbackException.Reason.INVALID, "it is not a query");
        }
        return parameters;
    }

    /** Renews tokens. A refresh token can be used once, so applications with concurrent callers use a {@link Session}. */
    public Tokens refresh(Tokens tokens) {
        if (tokens.refreshToken() == null) {
            throw new SignInRequiredException("the access token has expired and there is no refresh token (scope offline_access)");
        }
        TokenResponse response =
                tokenRequest(Map.of("grant_type", "refresh_token", "refresh_token", tokens.refreshToken().reveal()));
        if (response.idToken() != null) {
            idTokens.verify(response.idToken(), new IdTokens.Expected(null, null, response.accessToken(), tokens.sub()));
        }
        return tokens(response, tokens, tokens.sub());
    }

    /** Revokes the tokens and the grant behind them. */
    public void revoke(Tokens tokens) {
        Secret token = tokens.refreshToken() != null ? tokens.refreshToken() : tokens.accessToken();
        postForm(discovery.metadata().revocationEndpoint(), Map.of("token", token.reveal()));
    }

    /**
     * Where to redirect the browser to end the user's session at the identity provider.
     *
     * @param returnTo a registered post-logout redirect URI, or null
     */
    public String signOutUrl(Tokens tokens, String returnTo) {
        var query = new TreeMap<String, String>();
        query.put("client_id", clientId);
        query.put("id_token_hint", tokens.idToken() == null ? null : tokens.idToken().reveal());
        query.put("post_logout_redirect_uri", returnTo);
        return discovery.metadata().endSessionEndpoint() + "?" + Http.encode(query);
    }

    private record TokenResponse(
            @JsonProperty("access_token") String accessToken,
            @JsonProperty("expires_in") Long expiresIn,
            @JsonProperty("refresh_token") String refreshToken,
            @JsonProperty("id_token") String idToken) {}

    private record OAuthError(String error, @JsonProperty("error_description") String description) {}

    private Tokens tokens(TokenResponse response, Tokens before, String sub) {
        long seconds = response.expiresIn() == null ? EXPIRES_IN_SECONDS : response.expiresIn();
        Secret refreshToken = before == null ? null : before.refreshToken();
        Secret idToken = before == null ? null : before.idToken();
        return new Tokens(
                Secret.of(response.accessToken()),
                clock.instant().plusSeconds(seconds),
                response.refreshToken() == null ? refreshToken : Secret.of(response.refreshToken()),
                response.idToken() == null ? idToken : Secret.of(response.idToken()),
                sub);
    }

    private TokenResponse tokenRequest(Map<String, String> fields) {
        String url = issuer + "/connect/token";
        TokenResponse response = Http.parse("POST " + url, postForm(url, fields), TokenResponse.class);
        if (response.accessToken() == null) {
            throw new AldabaException("POST " + url + ": no access_token; check that the URL is that of the service");
        }
        return response;
    }

    /**
     * Posts a form with the client's credentials. Without a response it retries: a refresh token that is used twice in
     * quick succession returns the same tokens. A code is not retried, because its second use revokes the tokens of the
     * first.
     */
    private Http.Response postForm(String url, Map<String, String> fields) {
        var form = new TreeMap<>(fields);
        form.put("client_id", clientId);
        form.put("client_secret", clientSecret == null ? null : clientSecret.reveal());
        var headers = Map.of("Content-Type", "application/x-www-form-urlencoded");
        var request = new Http.Request("POST", url, headers, Http.encode(form), !fields.containsKey("code"));
        Http.Response response = http.send(request);
        if (response.isSuccess()) {
            return response;
        }
        OAuthError refused;
        try {
            refused = Json.MAPPER.readValue(response.body(), OAuthError.class);
        } catch (IOException notJson) {
            throw Http.error(request.name(), response);
        }
        if (refused == null || refused.error() == null) {
            throw Http.error(request.name(), response);
        }
        throw new OAuthException(refused.error(), refused.description() == null ? "" : refused.description());
    }

    @Override
    public String toString() {
        return "SignIn(" + issuer + ", " + clientId + ")";
    }
}
