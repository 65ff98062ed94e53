// Signs users in with go-oidc and golang.org/x/oauth2.
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"log"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// docs: settings
var (
	provider = must(oidc.NewProvider(context.Background(), os.Getenv("ISSUER")))
	verifier = provider.Verifier(&oidc.Config{ClientID: os.Getenv("CLIENT_ID")})
	config   = oauth2.Config{
		ClientID:     os.Getenv("CLIENT_ID"),
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		Endpoint:     provider.Endpoint(),
		RedirectURL:  os.Getenv("APP") + "/callback",
		Scopes:       []string{oidc.ScopeOpenID, "profile", "email", oidc.ScopeOfflineAccess},
	}
)

// docs: end

// A session of a browser; an application has a table of them.
type session struct {
	state, nonce, pkce string
	user               *user
	idToken            string
	token              *oauth2.Token
}

type user struct {
	Sub   string `json:"sub"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

var (
	sessions = map[string]*session{}
	lock     sync.Mutex
)

// docs: use
func login(w http.ResponseWriter, r *http.Request) {
	s := &session{state: random(), nonce: random(), pkce: oauth2.GenerateVerifier()}
	save(w, s)
	to := config.AuthCodeURL(s.state, oidc.Nonce(s.nonce), oauth2.S256ChallengeOption(s.pkce))
	http.Redirect(w, r, to, http.StatusFound)
}

func callback(w http.ResponseWriter, r *http.Request) {
	s := find(r)
	if s == nil || r.FormValue("state") != s.state {
		http.Error(w, "wrong state: "+r.FormValue("error_description"), http.StatusBadRequest)
		return
	}
	token, err := config.Exchange(r.Context(), r.FormValue("code"), oauth2.VerifierOption(s.pkce))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := verifier.Verify(r.Context(), raw)
	claims := user{}
	if err != nil || idToken.Nonce != s.nonce || idToken.Claims(&claims) != nil {
		http.Error(w, "wrong id_token", http.StatusBadGateway)
		return
	}
	save(w, &session{user: &claims, idToken: raw, token: token}) // a new session id after the sign-in
	http.Redirect(w, r, "/", http.StatusFound)
}

func logout(w http.ResponseWriter, r *http.Request) {
	query := url.Values{"post_logout_redirect_uri": {os.Getenv("APP") + "/"}}
	if s := find(r); s != nil {
		query.Set("id_token_hint", s.idToken)
	}
	save(w, &session{})
	var metadata struct {
		EndSession string `json:"end_session_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	http.Redirect(w, r, metadata.EndSession+"?"+query.Encode(), http.StatusFound)
}

// docs: end

func refresh(w http.ResponseWriter, r *http.Request) {
	s := find(r)
	expired := *s.token
	expired.Expiry = time.Now().Add(-time.Minute)
	token, err := config.TokenSource(r.Context(), &expired).Token()
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	renewed := token.RefreshToken != s.token.RefreshToken
	s.token = token
	show(w, map[string]bool{"renewed": renewed})
}

func home(w http.ResponseWriter, r *http.Request) {
	var known *user
	if s := find(r); s != nil {
		known = s.user
	}
	show(w, map[string]*user{"user": known})
}

func show(w http.ResponseWriter, value any) {
	w.Header().Set("content-type", "application/json")
	_ = json.NewEncoder(w).Encode(value)
}

func save(w http.ResponseWriter, s *session) {
	lock.Lock()
	defer lock.Unlock()
	id := random()
	sessions[id] = s
	http.SetCookie(w, &http.Cookie{Name: "session", Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
}

func find(r *http.Request) *session {
	lock.Lock()
	defer lock.Unlock()
	cookie, err := r.Cookie("session")
	if err != nil {
		return nil
	}
	return sessions[cookie.Value]
}

func random() string {
	bytes := make([]byte, 32)
	must(rand.Read(bytes))
	return base64.RawURLEncoding.EncodeToString(bytes)
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func main() {
	http.HandleFunc("/login", login)
	http.HandleFunc("/callback", callback)
	http.HandleFunc("/refresh", refresh)
	http.HandleFunc("/logout", logout)
	http.HandleFunc("/", home)
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), nil))
}
