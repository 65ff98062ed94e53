package panel;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.oauth2.sdk.AuthorizationCode;
import com.nimbusds.oauth2.sdk.AuthorizationCodeGrant;
import com.nimbusds.oauth2.sdk.AuthorizationGrant;
import com.nimbusds.oauth2.sdk.RefreshTokenGrant;
import com.nimbusds.oauth2.sdk.ResponseType;
import com.nimbusds.oauth2.sdk.Scope;
import com.nimbusds.oauth2.sdk.TokenRequest;
import com.nimbusds.oauth2.sdk.auth.ClientAuthentication;
import com.nimbusds.oauth2.sdk.auth.ClientSecretBasic;
import com.nimbusds.oauth2.sdk.auth.Secret;
import com.nimbusds.oauth2.sdk.id.ClientID;
import com.nimbusds.oauth2.sdk.id.Issuer;
import com.nimbusds.oauth2.sdk.id.State;
import com.nimbusds.oauth2.sdk.pkce.CodeChallengeMethod;
import com.nimbusds.oauth2.sdk.pkce.CodeVerifier;
import com.nimbusds.openid.connect.sdk.AuthenticationRequest;
import com.nimbusds.openid.connect.sdk.AuthenticationResponseParser;
import com.nimbusds.openid.connect.sdk.LogoutRequest;
import com.nimbusds.openid.connect.sdk.Nonce;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponse;
import com.nimbusds.openid.connect.sdk.OIDCTokenResponseParser;
import com.nimbusds.openid.connect.sdk.UserInfoRequest;
import com.nimbusds.openid.connect.sdk.UserInfoResponse;
import com.nimbusds.openid.connect.sdk.claims.UserInfo;
import com.nimbusds.openid.connect.sdk.op.OIDCProviderMetadata;
import com.nimbusds.openid.connect.sdk.token.OIDCTokens;
import com.nimbusds.openid.connect.sdk.validators.IDTokenValidator;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import net.minidev.json.JSONObject;

/** Signs users in with Nimbus' OAuth 2.0 SDK and the JDK's own HTTP server. */
public final class Panel {
  // docs: settings
  static final String APP = System.getenv("APP");
  static final URI CALLBACK = URI.create(APP + "/callback");
  static final Scope SCOPE = new Scope("openid", "profile", "email", "offline_access");
  static final ClientID CLIENT = new ClientID(System.getenv("CLIENT_ID"));
  static final ClientAuthentication CREDENTIALS =
      new ClientSecretBasic(CLIENT, new Secret(System.getenv("CLIENT_SECRET")));
  static final OIDCProviderMetadata PROVIDER;
  static final IDTokenValidator VALIDATOR;

  static {
    try {
      PROVIDER = OIDCProviderMetadata.resolve(new Issuer(System.getenv("ISSUER")));
      var keys = PROVIDER.getJWKSetURI().toURL();
      VALIDATOR = new IDTokenValidator(PROVIDER.getIssuer(), CLIENT, JWSAlgorithm.RS256, keys);
    } catch (Exception failure) {
      throw new ExceptionInInitializerError(failure);
    }
  }
  // docs: end

  /** A session of a browser; an application has a table of them. */
  static final class Session {
    final State state = new State();
    final Nonce nonce = new Nonce();
    final CodeVerifier verifier = new CodeVerifier();
    OIDCTokens tokens;
    UserInfo user;
  }

  static final Map<String, Session> SESSIONS = new ConcurrentHashMap<>();

  // docs: use
  static URI login(Session session) {
    return new AuthenticationRequest.Builder(ResponseType.CODE, SCOPE, CLIENT, CALLBACK)
        .endpointURI(PROVIDER.getAuthorizationEndpointURI())
        .state(session.state)
        .nonce(session.nonce)
        .codeChallenge(session.verifier, CodeChallengeMethod.S256)
        .build()
        .toURI();
  }

  static void callback(Session session, URI uri) throws Exception {
    var response = AuthenticationResponseParser.parse(uri);
    if (!response.indicatesSuccess() || !session.state.equals(response.getState())) {
      throw new IOException("the sign-in was refused, or its state is another");
    }
    if (!PROVIDER.getIssuer().equals(response.getIssuer())) {
      throw new IOException("another identity provider answered"); // RFC 9207
    }
    AuthorizationCode code = response.toSuccessResponse().getAuthorizationCode();
    OIDCTokens tokens = tokens(new AuthorizationCodeGrant(code, CALLBACK, session.verifier));
    VALIDATOR.validate(tokens.getIDToken(), session.nonce);
    var userInfo = new UserInfoRequest(PROVIDER.getUserInfoEndpointURI(), tokens.getAccessToken());
    session.user = UserInfoResponse.parse(userInfo.toHTTPRequest().send()).toSuccessResponse().getUserInfo();
    session.tokens = tokens;
  }

  static OIDCTokens tokens(AuthorizationGrant grant) throws Exception {
    var request = new TokenRequest.Builder(PROVIDER.getTokenEndpointURI(), CREDENTIALS, grant).build();
    var response = OIDCTokenResponseParser.parse(request.toHTTPRequest().send());
    if (!response.indicatesSuccess()) {
      throw new IOException(response.toErrorResponse().getErrorObject().toString());
    }
    return ((OIDCTokenResponse) response.toSuccessResponse()).getOIDCTokens();
  }

  static void renew(Session session) throws Exception {
    session.tokens = tokens(new RefreshTokenGrant(session.tokens.getRefreshToken()));
  }

  static URI logout(Session session) {
    var hint = session.tokens.getIDToken();
    return new LogoutRequest(PROVIDER.getEndSessionEndpointURI(), hint, URI.create(APP + "/"), null).toURI();
  }
  // docs: end

  public static void main(String[] arguments) throws IOException {
    int port = Integer.parseInt(System.getenv("PORT"));
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), port), 0);
    server.createContext("/", Panel::handle);
    server.start();
  }

  static void handle(HttpExchange exchange) throws IOException {
    try {
      String id = exchange.getRequestHeaders().getFirst("Cookie");
      Session session = id == null ? null : SESSIONS.get(id);
      switch (exchange.getRequestURI().getPath()) {
        case "/login" -> {
          var fresh = new Session();
          String cookie = "session=" + UUID.randomUUID();
          SESSIONS.put(cookie, fresh);
          exchange.getResponseHeaders().set("Set-Cookie", cookie + "; Path=/; HttpOnly; SameSite=Lax");
          redirect(exchange, login(fresh));
        }
        case "/callback" -> {
          callback(session, exchange.getRequestURI());
          redirect(exchange, URI.create("/"));
        }
        case "/refresh" -> {
          var before = session.tokens.getRefreshToken();
          renew(session);
          show(exchange, 200, new JSONObject(Map.of("renewed", !before.equals(session.tokens.getRefreshToken()))));
        }
        case "/logout" -> {
          SESSIONS.remove(id);
          redirect(exchange, logout(session));
        }
        default -> {
          var user = new JSONObject();
          user.put("user", session == null || session.user == null ? null : session.user.toJSONObject());
          show(exchange, 200, user);
        }
      }
    } catch (Exception failure) {
      failure.printStackTrace();
      show(exchange, 502, new JSONObject(Map.of("error", String.valueOf(failure))));
    }
  }

  static void redirect(HttpExchange exchange, URI to) throws IOException {
    exchange.getResponseHeaders().set("Location", to.toString());
    exchange.sendResponseHeaders(302, -1);
    exchange.close();
  }

  static void show(HttpExchange exchange, int status, JSONObject value) throws IOException {
    byte[] body = value.toJSONString().getBytes("UTF-8");
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    exchange.sendResponseHeaders(status, body.length);
    exchange.getResponseBody().write(body);
    exchange.close();
  }
}
