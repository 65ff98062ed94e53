package signin

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aldaba "aldaba.dev/kit"
)

var signingKey = func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return key
}()

// identityProvider is a small OpenID provider whose next id_token can be spoiled.
type identityProvider struct {
	*httptest.Server
	nonce     string
	spoil     func(header, claims map[string]interface{})
	tamper    func(token string) string
	refreshes atomic.Int64
	refuse    atomic.Bool
}

func newIdentityProvider(t *testing.T) *identityProvider {
	t.Helper()
	idp := &identityProvider{}
	mux := http.NewServeMux()
	reply := func(writer http.ResponseWriter, value interface{}) { _ = json.NewEncoder(writer).Encode(value) }
	mux.HandleFunc("/auth/core/.well-known/openid-configuration", func(writer http.ResponseWriter, _ *http.Request) {
		reply(writer, map[string]string{
			"issuer": idp.issuer(), "jwks_uri": idp.issuer() + "/keys",
			"revocation_endpoint": idp.issuer() + "/revocation", "end_session_endpoint": idp.issuer() + "/endsession",
		})
	})
	mux.HandleFunc("/auth/core/keys", func(writer http.ResponseWriter, _ *http.Request) {
		n := base64url(signingKey.N.Bytes())
		reply(writer, map[string]interface{}{"keys": []map[string]string{
			{"kid": "k1", "kty": "RSA", "alg": "RS256", "use": "sig", "n": n, "e": "AQAB"},
			{"kid": "enc", "kty": "RSA", "use": "enc", "n": n, "e": "AQAB"},
		}})
	})
	mux.HandleFunc("/auth/core/connect/token", func(writer http.ResponseWriter, request *http.Request) {
		if request.PostFormValue("client_secret") != "s3cret" || idp.refuse.Load() {
			writer.WriteHeader(http.StatusBadRequest)
			reply(writer, map[string]string{"error": "invalid_grant", "error_description": "used before"})
			return
		}
		number := int64(0)
		if request.PostFormValue("grant_type") == "refresh_token" {
			number = idp.refreshes.Add(1)
		}
		access := fmt.Sprintf("access-%d", number)
		reply(writer, map[string]interface{}{
			"access_token": access, "expires_in": 3600, "token_type": "Bearer", "id_token": idp.idToken(access),
			"refresh_token": fmt.Sprintf("refresh-%d", number),
		})
	})
	idp.Server = httptest.NewServer(mux)
	t.Cleanup(idp.Close)
	return idp
}

func (i *identityProvider) issuer() string { return i.URL + "/auth/core" }

func (i *identityProvider) idToken(accessToken string) string {
	now := time.Now().Unix()
	header := map[string]interface{}{"alg": "RS256", "kid": "k1"}
	claims := map[string]interface{}{
		"iss": i.issuer(), "aud": "panel", "sub": "maria", "nonce": i.nonce, "iat": now, "exp": now + 300,
		"at_hash": halfHash(accessToken),
	}
	if i.spoil != nil {
		i.spoil(header, claims)
	}
	token := signed(header, claims)
	if i.tamper != nil {
		token = i.tamper(token)
	}
	return token
}

func signed(header, claims map[string]interface{}) string {
	part := func(value interface{}) string {
		text, _ := json.Marshal(value)
		return base64url(text)
	}
	text := part(header) + "." + part(claims)
	hash := sha256.Sum256([]byte(text))
	signature, err := rsa.SignPKCS1v15(rand.Reader, signingKey, crypto.SHA256, hash[:])
	if err != nil {
		panic(err)
	}
	return text + "." + base64url(signature)
}

func (i *identityProvider) provider(t *testing.T) *Provider {
	t.Helper()
	provider, err := New(Config{
		AuthURL: i.URL, ClientID: "panel", ClientSecret: "s3cret", RedirectURI: "http://localhost:8765/callback",
	})
	if err != nil {
		t.Fatal(err)
	}
	return provider
}

// start begins a sign-in and returns the callback that an honest identity provider sends.
func (i *identityProvider) start(t *testing.T) (*Provider, Pending, url.Values) {
	t.Helper()
	provider := i.provider(t)
	address, pending := provider.Start(Request{Scopes: AccountingScopes(), Tenant: "t 1"})
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	query := parsed.Query()
	hash := sha256.Sum256([]byte(pending.Verifier))
	if query.Get("code_challenge") != base64url(hash[:]) || query.Get("acr_values") != "tenant:t 1" || query.Get("nonce") == query.Get("state") {
		t.Fatalf("wrong request: %s", address)
	}
	i.nonce = query.Get("nonce")
	return provider, pending, url.Values{"code": {"c0de"}, "state": {query.Get("state")}, "iss": {i.issuer()}}
}

func TestSignInCompletes(t *testing.T) {
	idp := newIdentityProvider(t)
	provider, pending, callback := idp.start(t)
	completed, err := provider.Finish(context.Background(), pending, "http://localhost:8765/callback?"+callback.Encode())
	if err != nil {
		t.Fatal(err)
	}
	if completed.Identity.Sub != "maria" || completed.Tokens.Sub != "maria" || completed.Tokens.RefreshToken != "refresh-0" {
		t.Fatalf("%+v %s", completed.Identity, completed.Tokens)
	}
	for _, text := range []string{fmt.Sprintf("%+v", completed), fmt.Sprintf("%#v", provider), fmt.Sprint(pending)} {
		if strings.Contains(text, "s3cret") || strings.Contains(text, "access-0") || strings.Contains(text, string(pending.Verifier)) {
			t.Errorf("prints a secret: %s", text)
		}
	}
}

func TestCallbackFaultsAreRefused(t *testing.T) {
	for name, fault := range map[string]struct {
		change func(url.Values)
		want   error
	}{
		"another state":  {func(v url.Values) { v.Set("state", "other") }, ErrState},
		"no state":       {func(v url.Values) { v.Del("state") }, ErrState},
		"another issuer": {func(v url.Values) { v.Set("iss", "https://evil.example/auth/core") }, ErrIssuer},
		"no issuer":      {func(v url.Values) { v.Del("iss") }, ErrCallback},
		"two codes":      {func(v url.Values) { v.Add("code", "second") }, ErrCallback},
		"no code":        {func(v url.Values) { v.Del("code") }, ErrCallback},
	} {
		t.Run(name, func(t *testing.T) {
			provider, pending, callback := newIdentityProvider(t).start(t)
			fault.change(callback)
			if _, err := provider.Finish(context.Background(), pending, callback.Encode()); !errors.Is(err, fault.want) {
				t.Fatalf("got %v", err)
			}
		})
	}
	provider, pending, callback := newIdentityProvider(t).start(t)
	callback.Set("error", "access_denied")
	var denied *OAuthError
	if _, err := provider.Finish(context.Background(), pending, callback.Encode()); !errors.As(err, &denied) || denied.Code != "access_denied" {
		t.Fatalf("got %v", err)
	}
}

func TestIDTokenFaultsAreRefused(t *testing.T) {
	type object = map[string]interface{}
	past := time.Now().Unix() - 61
	for name, fault := range map[string]struct {
		spoil  func(header, claims object)
		tamper func(string) string
		want   error
	}{
		"expired":              {spoil: func(_, c object) { c["exp"] = past }, want: ErrIDTokenExpired},
		"no expiry":            {spoil: func(_, c object) { delete(c, "exp") }, want: ErrIDTokenExpired},
		"from the future":      {spoil: func(_, c object) { c["iat"] = time.Now().Unix() + 120 }, want: ErrIDTokenFuture},
		"another nonce":        {spoil: func(_, c object) { c["nonce"] = "other" }, want: ErrIDTokenNonce},
		"another issuer":       {spoil: func(_, c object) { c["iss"] = "https://evil.example" }, want: ErrIDTokenIssuer},
		"another audience":     {spoil: func(_, c object) { c["aud"] = "other" }, want: ErrIDTokenAudience},
		"audiences, no azp":    {spoil: func(_, c object) { c["aud"] = []string{"panel", "other"} }, want: ErrIDTokenAudience},
		"another access token": {spoil: func(_, c object) { c["at_hash"] = halfHash("other") }, want: ErrIDTokenAccessToken},
		"no user":              {spoil: func(_, c object) { delete(c, "sub") }, want: ErrIDTokenMalformed},
		"no algorithm":         {spoil: func(h, _ object) { h["alg"] = "none" }, want: ErrIDTokenAlgorithm},
		"a shared key":         {spoil: func(h, _ object) { h["alg"] = "HS256" }, want: ErrIDTokenAlgorithm},
		"an unknown key":       {spoil: func(h, _ object) { h["kid"] = "k9" }, want: ErrIDTokenKey},
		"an encryption key":    {spoil: func(h, _ object) { h["kid"] = "enc" }, want: ErrIDTokenKey},
		"two parts":            {tamper: func(token string) string { return token[:strings.LastIndex(token, ".")] }, want: ErrIDTokenMalformed},
		"a changed payload": {tamper: func(token string) string {
			parts := strings.Split(token, ".")
			payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
			parts[1] = base64url([]byte(strings.Replace(string(payload), "maria", "admin", 1)))
			return strings.Join(parts, ".")
		}, want: ErrIDTokenSignature},
	} {
		t.Run(name, func(t *testing.T) {
			idp := newIdentityProvider(t)
			provider, pending, callback := idp.start(t)
			idp.spoil, idp.tamper = fault.spoil, fault.tamper
			_, err := provider.Finish(context.Background(), pending, callback.Encode())
			if !errors.Is(err, fault.want) || !errors.Is(err, ErrIDToken) {
				t.Fatalf("got %v", err)
			}
		})
	}
}

func TestCallbackIDTokenBelongsToTheCode(t *testing.T) {
	idp := newIdentityProvider(t)
	provider, pending, callback := idp.start(t)
	idp.spoil = func(_, claims map[string]interface{}) { claims["c_hash"] = halfHash("another code") }
	callback.Set("id_token", idp.idToken(""))
	idp.spoil = nil
	if _, err := provider.Finish(context.Background(), pending, callback.Encode()); !errors.Is(err, ErrIDTokenCode) {
		t.Fatalf("got %v", err)
	}
}

// recordingStore records what is saved, and can fail.
type recordingStore struct {
	*MemoryStore
	mutex sync.Mutex
	saved []Tokens
	err   error
}

func (s *recordingStore) Save(ctx context.Context, tokens Tokens) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.err != nil {
		return s.err
	}
	s.saved = append(s.saved, tokens)
	return s.MemoryStore.Save(ctx, tokens)
}

func expiredTokens() *recordingStore {
	return &recordingStore{MemoryStore: NewMemoryStore(Tokens{AccessToken: "old", RefreshToken: "refresh-0", Sub: "maria"})}
}

func TestSessionRenewsOnceForAllCallers(t *testing.T) {
	idp, store := newIdentityProvider(t), expiredTokens()
	session := NewSession(idp.provider(t), store)
	var group sync.WaitGroup
	for caller := 0; caller < 16; caller++ {
		group.Add(1)
		go func() {
			defer group.Done()
			if token, err := session.AccessToken(context.Background()); err != nil || token != "access-1" {
				t.Errorf("got %v", err)
			}
		}()
	}
	group.Wait()
	if idp.refreshes.Load() != 1 || len(store.saved) != 1 || store.saved[0].RefreshToken != "refresh-1" {
		t.Fatalf("%d refreshes, saved %v", idp.refreshes.Load(), store.saved)
	}
	// A refused token that was replaced meanwhile is not renewed again.
	if token, err := session.ReplaceToken(context.Background(), "old"); err != nil || token != "access-1" || idp.refreshes.Load() != 1 {
		t.Fatalf("got %v after %d refreshes", err, idp.refreshes.Load())
	}
}

func TestSessionHandsOutNoTokenThatWasNotSaved(t *testing.T) {
	idp, store := newIdentityProvider(t), expiredTokens()
	store.err = errors.New("the disk is full")
	if token, err := NewSession(idp.provider(t), store).AccessToken(context.Background()); !errors.Is(err, store.err) || token != "" {
		t.Fatalf("got %v", err)
	}
}

func TestEndedSessionRequiresASignIn(t *testing.T) {
	idp, store := newIdentityProvider(t), expiredTokens()
	session := NewSession(idp.provider(t), store)
	idp.refuse.Store(true)
	if _, err := session.AccessToken(context.Background()); !errors.Is(err, aldaba.ErrSignInRequired) {
		t.Fatalf("got %v", err)
	}
	_ = store.Clear(context.Background())
	if _, err := session.AccessToken(context.Background()); !errors.Is(err, aldaba.ErrSignInRequired) {
		t.Fatalf("got %v", err)
	}
}

func TestRefreshForAnotherUserIsRefused(t *testing.T) {
	idp := newIdentityProvider(t)
	_, err := idp.provider(t).Refresh(context.Background(), Tokens{RefreshToken: "refresh-0", Sub: "eva"})
	if !errors.Is(err, ErrIDTokenSubject) {
		t.Fatalf("got %v", err)
	}
}

func TestUnencryptedProviderIsRefused(t *testing.T) {
	for _, address := range []string{"http://auth.example.com", "auth.example.com", "https://user@auth.example.com", "https://a/?q=1"} {
		if _, err := New(Config{AuthURL: address, ClientID: "panel", RedirectURI: "https://panel.example/"}); err == nil {
			t.Errorf("%s is accepted", address)
		}
	}
}
