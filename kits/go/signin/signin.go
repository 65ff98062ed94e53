// Package signin signs users in with OAuth 2.0 and OpenID Connect, and renews their tokens.
//
//	provider, err := signin.New(signin.Config{
//		AuthURL: "https://auth.example.com", ClientID: "…", ClientSecret: "…", RedirectURI: "https://panel.example/callback",
//	})
//	address, pending := provider.Start(signin.Request{Scopes: signin.AccountingScopes()})
//	// Redirect the browser to address, and store pending in its session. When it returns:
//	completed, err := provider.Finish(ctx, pending, request.URL.String())
//	session := signin.NewSession(provider, signin.NewMemoryStore(completed.Tokens))
package signin

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	aldaba "aldaba.dev/kit"
	"aldaba.dev/kit/internal/httpcall"
)

const (
	openID           = "openid"
	expiresInDefault = 3600
	callbackBytesMax = 16 * 1024
	parameterMissing = "the parameter %s is missing; start the sign-in again: %w"
)

// The errors of a callback.
var (
	// ErrState means that the callback belongs to another browser or is forged.
	ErrState = errors.New("the state is not the one that was sent; ignore this callback and start the sign-in again")
	// ErrIssuer means that the callback comes from another identity provider.
	ErrIssuer = errors.New("the callback comes from another issuer; ignore it and start the sign-in again")
	// ErrCallback means that the callback has missing or repeated parameters.
	ErrCallback = errors.New("the callback is invalid")
)

// OAuthError is an error of the identity provider; for example, the user declined.
type OAuthError struct {
	// Code is the OAuth error code, such as `access_denied` or `invalid_grant`.
	Code string `json:"error"`
	// Description is for people; it may be empty.
	Description string `json:"error_description"`
}

func (e *OAuthError) Error() string {
	return fmt.Sprintf("the identity provider says %s: %s", e.Code, e.Description)
}

// AccountingScopes are the scopes of the accounting API and of webhooks, with a refresh token.
func AccountingScopes() []string {
	return []string{
		"offline_access", openID, "SVC.ES.NEWPOL.COR.API", "SVC.ES.NEWPOL.ACC.API", "SVC.ES.NEWPOL.MNG.API",
		"SVC.ES.Webhooks",
	}
}

// PayrollScopes are the scopes of the payroll API, with a refresh token.
func PayrollScopes() []string {
	return []string{"offline_access", openID, "IDInfo", "SVC.ES.EquipoContex"}
}

// Request is what an authorization request asks for.
type Request struct {
	// Scopes are the requested scopes. Without `openid` there is no id_token, without `offline_access` no refresh token.
	Scopes []string
	// Tenant preselects a tenant if the user has several.
	Tenant string
	// LoginHint fills in the user name on the sign-in page.
	LoginHint string
	// Prompt is `none`, `login`, `consent` or `select_account`.
	Prompt string
	// MaxAge requires the user to authenticate again if the last time is longer ago.
	MaxAge *time.Duration
	// Language is the language of the pages: `es` or `en`.
	Language string
}

// Pending is the state of a sign-in between its start and its callback. It belongs to one browser: store it in the
// session of this browser.
type Pending struct {
	State          string        `json:"state"`
	Nonce          string        `json:"nonce"`
	Verifier       aldaba.Secret `json:"verifier"`
	ExpectsIDToken bool          `json:"expectsIdToken"`
}

// Completed is a completed sign-in.
type Completed struct {
	Tokens Tokens
	// Identity is the user; nil if the scope `openid` was not requested.
	Identity *Identity
}

// Config is the registration of the application at the identity provider.
type Config struct {
	// AuthURL is the URL of the identity provider without a path.
	AuthURL  string
	ClientID string
	// ClientSecret is empty for public clients.
	ClientSecret aldaba.Secret
	RedirectURI  string

	// HTTPClient and Retry are optional.
	HTTPClient *http.Client
	Retry      aldaba.RetryPolicy
	// Now is the clock; for tests.
	Now func() time.Time
}

// Provider is an OpenID Connect client of the identity provider. It is safe for concurrent use.
type Provider struct {
	config    Config
	issuer    string
	sender    *httpcall.Sender
	discovery discovery
}

// New checks the configuration.
func New(config Config) (*Provider, error) {
	authURL, err := httpcall.CheckURL("the URL of the identity provider", config.AuthURL)
	if err != nil {
		return nil, err
	}
	if config.ClientID == "" || config.RedirectURI == "" {
		return nil, errors.New("a sign-in needs a client id and a redirect URI")
	}
	if config.Now == nil {
		config.Now = time.Now
	}
	provider := &Provider{config: config, issuer: authURL + "/auth/core", sender: httpcall.NewSender(config.HTTPClient, config.Retry)}
	provider.discovery = discovery{issuer: provider.issuer, sender: provider.sender, now: config.Now}
	return provider, nil
}

// String shows the issuer, without the client secret.
func (p *Provider) String() string { return "signin.Provider(" + p.issuer + ")" }

// GoString is String.
func (p *Provider) GoString() string { return p.String() }

// Start starts a sign-in, with a random state, nonce and PKCE verifier. Redirect the browser to the address, and store
// the pending sign-in in its session.
func (p *Provider) Start(request Request) (address string, pending Pending) {
	pending = Pending{State: random(16), Nonce: random(16), Verifier: aldaba.Secret(random(32))}
	for _, scope := range request.Scopes {
		pending.ExpectsIDToken = pending.ExpectsIDToken || scope == openID
	}
	challenge := sha256.Sum256([]byte(pending.Verifier))
	query := url.Values{
		"client_id": {p.config.ClientID}, "response_type": {"code"}, "redirect_uri": {p.config.RedirectURI},
		"scope": {strings.Join(request.Scopes, " ")}, "state": {pending.State}, "nonce": {pending.Nonce},
		"code_challenge": {base64url(challenge[:])}, "code_challenge_method": {"S256"},
	}
	optional := map[string]string{"login_hint": request.LoginHint, "prompt": request.Prompt, "ui_locales": request.Language}
	if request.Tenant != "" {
		optional["acr_values"] = "tenant:" + request.Tenant
	}
	if request.MaxAge != nil {
		optional["max_age"] = strconv.FormatInt(int64(*request.MaxAge/time.Second), 10)
	}
	for name, value := range optional {
		if value != "" {
			query.Set(name, value)
		}
	}
	return p.issuer + "/connect/authorize?" + query.Encode(), pending
}

// Finish finishes a sign-in: it checks the callback against the pending sign-in, exchanges the code, and verifies the
// id_token. callback is the URL of the callback, its query, or the body of a `form_post`. Delete pending afterwards,
// whatever the result.
func (p *Provider) Finish(ctx context.Context, pending Pending, callback string) (*Completed, error) {
	code, callbackToken, err := p.parseCallback(pending, callback)
	if err != nil {
		return nil, err
	}
	sub := ""
	var identity *Identity
	if callbackToken != "" {
		identity, err = p.verify(ctx, callbackToken, expected{nonce: pending.Nonce, code: code})
		if err != nil {
			return nil, err
		}
		sub = identity.Sub
	}
	response, err := p.tokenRequest(ctx, url.Values{
		"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {p.config.RedirectURI},
		"code_verifier": {string(pending.Verifier)},
	})
	if err != nil {
		return nil, err
	}
	if response.IDToken != "" {
		identity, err = p.verify(ctx, response.IDToken, expected{nonce: pending.Nonce, accessToken: response.AccessToken, sub: sub})
		if err != nil {
			return nil, err
		}
	} else if pending.ExpectsIDToken {
		return nil, fmt.Errorf("%w: it is missing", ErrIDToken)
	}
	tokens := p.tokens(response, Tokens{})
	if identity != nil {
		tokens.Sub = identity.Sub
	}
	return &Completed{Tokens: tokens, Identity: identity}, nil
}

// parseCallback returns the code and the id_token of a callback that belongs to the pending sign-in.
func (p *Provider) parseCallback(pending Pending, callback string) (code, idToken string, err error) {
	if len(callback) > callbackBytesMax {
		return "", "", fmt.Errorf("%w: it is longer than any valid callback", ErrCallback)
	}
	if _, query, found := strings.Cut(callback, "?"); found {
		callback = query
	}
	callback, _, _ = strings.Cut(callback, "#")
	values, err := url.ParseQuery(callback)
	if err != nil {
		return "", "", fmt.Errorf("%w: it is not a query", ErrCallback)
	}
	for _, name := range []string{"state", "iss", "error", "error_description", "code", "id_token"} {
		if len(values[name]) > 1 {
			return "", "", fmt.Errorf("%w: the parameter %s appears twice", ErrCallback, name)
		}
	}
	// Check the sender first: even an error must not be trusted before.
	if pending.State == "" || values.Get("state") != pending.State {
		return "", "", ErrState
	}
	if !values.Has("iss") {
		return "", "", fmt.Errorf(parameterMissing, "iss", ErrCallback)
	}
	if values.Get("iss") != p.issuer {
		return "", "", ErrIssuer
	}
	if values.Has("error") {
		return "", "", &OAuthError{Code: values.Get("error"), Description: values.Get("error_description")}
	}
	if values.Get("code") == "" {
		return "", "", fmt.Errorf(parameterMissing, "code", ErrCallback)
	}
	return values.Get("code"), values.Get("id_token"), nil
}

// Refresh renews tokens. A refresh token can be used once, so applications with concurrent callers use a Session.
func (p *Provider) Refresh(ctx context.Context, tokens Tokens) (Tokens, error) {
	if tokens.RefreshToken == "" {
		return Tokens{}, fmt.Errorf("the access token has expired and there is no refresh token (scope offline_access): %w", aldaba.ErrSignInRequired)
	}
	response, err := p.tokenRequest(ctx, url.Values{
		"grant_type": {"refresh_token"}, "refresh_token": {string(tokens.RefreshToken)},
	})
	if err != nil {
		return Tokens{}, err
	}
	if response.IDToken != "" {
		if _, err := p.verify(ctx, response.IDToken, expected{accessToken: response.AccessToken, sub: tokens.Sub}); err != nil {
			return Tokens{}, err
		}
	}
	return p.tokens(response, tokens), nil
}

// Revoke revokes the tokens and the grant behind them.
func (p *Provider) Revoke(ctx context.Context, tokens Tokens) error {
	metadata, err := p.discovery.metadata(ctx)
	if err != nil {
		return err
	}
	token := tokens.RefreshToken
	if token == "" {
		token = tokens.AccessToken
	}
	_, err = p.postForm(ctx, metadata.RevocationEndpoint, url.Values{"token": {string(token)}})
	return err
}

// SignOutURL is where to redirect the browser to end the user's session at the identity provider. returnTo is a
// registered post-logout redirect URI, or empty.
func (p *Provider) SignOutURL(ctx context.Context, tokens Tokens, returnTo string) (string, error) {
	metadata, err := p.discovery.metadata(ctx)
	if err != nil {
		return "", err
	}
	query := url.Values{"client_id": {p.config.ClientID}}
	if tokens.IDToken != "" {
		query.Set("id_token_hint", tokens.IDToken)
	}
	if returnTo != "" {
		query.Set("post_logout_redirect_uri", returnTo)
	}
	return metadata.EndSessionEndpoint + "?" + query.Encode(), nil
}

// tokenResponse is the response of the token endpoint.
type tokenResponse struct {
	AccessToken  string `json:"access_token"`
	ExpiresIn    int64  `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	IDToken      string `json:"id_token"`
}

func (p *Provider) tokens(response *tokenResponse, before Tokens) Tokens {
	lifetime := response.ExpiresIn
	if lifetime <= 0 {
		lifetime = expiresInDefault
	}
	tokens := before
	tokens.AccessToken = aldaba.Secret(response.AccessToken)
	tokens.ExpiresAt = p.config.Now().Add(time.Duration(lifetime) * time.Second).UTC()
	if response.RefreshToken != "" {
		tokens.RefreshToken = aldaba.Secret(response.RefreshToken)
	}
	if response.IDToken != "" {
		tokens.IDToken = response.IDToken
	}
	return tokens
}

func (p *Provider) tokenRequest(ctx context.Context, fields url.Values) (*tokenResponse, error) {
	address := p.issuer + "/connect/token"
	received, err := p.postForm(ctx, address, fields)
	if err != nil {
		return nil, err
	}
	var response tokenResponse
	if err := httpcall.ParseBody("POST "+address, received.Body, &response); err != nil {
		return nil, err
	}
	if response.AccessToken == "" {
		return nil, fmt.Errorf("POST %s: invalid response (no access_token); check that the URL is that of the service", address)
	}
	return &response, nil
}

// postForm posts a form with the client's credentials. Without a response it retries: a refresh token that is used twice
// in quick succession returns the same tokens. A code is not retried, because its second use revokes the tokens of the
// first.
func (p *Provider) postForm(ctx context.Context, address string, fields url.Values) (*httpcall.Response, error) {
	fields.Set("client_id", p.config.ClientID)
	if p.config.ClientSecret != "" {
		fields.Set("client_secret", string(p.config.ClientSecret))
	}
	request := &httpcall.Request{
		Method: http.MethodPost, URL: address, Body: []byte(fields.Encode()), Idempotent: !fields.Has("code"),
		Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
	}
	response, err := p.sender.Send(ctx, request)
	if err != nil || response.IsSuccess() {
		return response, err
	}
	var refused OAuthError
	if json.Unmarshal(response.Body, &refused) == nil && refused.Code != "" {
		return nil, &refused
	}
	return nil, httpcall.NewAPIError(request.Name(), response)
}

func random(bytes int) string {
	buffer := make([]byte, bytes)
	if _, err := rand.Read(buffer); err != nil {
		panic("the operating system has no randomness: " + err.Error())
	}
	return base64url(buffer)
}

func base64url(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }
