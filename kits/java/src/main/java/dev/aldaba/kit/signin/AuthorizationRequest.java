package dev.aldaba.kit.signin;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What an authorization request asks for. */
public final class AuthorizationRequest {
    static final String OPENID = "openid";

    private static final List<String> ACCOUNTING = List.of(
            "offline_access", OPENID, "SVC.ES.NEWPOL.COR.API", "SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.MNG.API", "SVC.ES.Webhooks");
    private static final List<String> PAYROLL = List.of("offline_access", OPENID, "IDInfo", "SVC.ES.EquipoContex");

    private final List<String> scopes;
    private final Map<String, String> parameters;

    private AuthorizationRequest(Collection<String> scopes, Map<String, String> parameters) {
        this.scopes = List.copyOf(new LinkedHashSet<>(scopes));
        this.parameters = Map.copyOf(parameters);
    }

    /** The scopes of the accounting API and of webhooks, with a refresh token. */
    public static AuthorizationRequest accounting() {
        return ofScopes(ACCOUNTING);
    }

    /** The scopes of the payroll API, with a refresh token. */
    public static AuthorizationRequest payroll() {
        return ofScopes(PAYROLL);
    }

    /** Any scopes. Without {@code openid} there is no id_token, without {@code offline_access} no refresh token. */
    public static AuthorizationRequest ofScopes(Collection<String> scopes) {
        return new AuthorizationRequest(scopes, Map.of());
    }

    /** Adds the scopes of another request, to sign in for both APIs at once. */
    public AuthorizationRequest and(AuthorizationRequest other) {
        var all = new ArrayList<>(scopes);
        all.addAll(other.scopes);
        return new AuthorizationRequest(all, parameters);
    }

    /** Preselects a tenant if the user has several. */
    public AuthorizationRequest tenant(String id) {
        return with("acr_values", "tenant:" + id);
    }

    /** Fills in the user name on the sign-in page. */
    public AuthorizationRequest loginHint(String name) {
        return with("login_hint", name);
    }

    /** {@code none}, {@code login}, {@code consent} or {@code select_account}. */
    public AuthorizationRequest prompt(String prompt) {
        return with("prompt", prompt);
    }

    /** Requires the user to authenticate again if the last time is longer ago. */
    public AuthorizationRequest maxAge(Duration age) {
        return with("max_age", Long.toString(age.toSeconds()));
    }

    /** The language of the pages: {@code es} or {@code en}. */
    public AuthorizationRequest language(String tag) {
        return with("ui_locales", tag);
    }

    private AuthorizationRequest with(String name, String value) {
        var all = new TreeMap<>(parameters);
        all.put(name, value);
        return new AuthorizationRequest(scopes, all);
    }

    boolean expectsIdToken() {
        return scopes.contains(OPENID);
    }

    Map<String, String> toParameters() {
        var all = new TreeMap<>(parameters);
        all.put("scope", String.join(" ", scopes));
        return all;
    }
}
