package signin

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	aldaba "aldaba.dev/kit"
)

const (
	// Tokens that expire within this time are renewed.
	renewalMargin  = 60 * time.Second
	renewalTimeout = 2 * time.Minute
)

// Tokens are the tokens of one sign-in. fmt does not print them; JSON contains them in plain text, so encrypt it before
// you store it.
type Tokens struct {
	AccessToken aldaba.Secret `json:"accessToken"`
	ExpiresAt   time.Time     `json:"expiresAt"`
	// RefreshToken is there only with the scope `offline_access`. It can be used once: each renewal returns the next one.
	RefreshToken aldaba.Secret `json:"refreshToken,omitempty"`
	// IDToken is the last id_token, for signing out.
	IDToken string `json:"idToken,omitempty"`
	// Sub is the user, if there was an id_token.
	Sub string `json:"sub,omitempty"`
}

// String hides the tokens.
func (t Tokens) String() string { return fmt.Sprintf("Tokens(sub %s, until %s)", t.Sub, t.ExpiresAt) }

// GoString hides the tokens.
func (t Tokens) GoString() string { return t.String() }

func (t Tokens) isValid(now time.Time) bool { return now.Add(renewalMargin).Before(t.ExpiresAt) }

// TokenStore stores the tokens of one user: a row in the application's database, a file, a keyring.
type TokenStore interface {
	// Load returns the stored tokens; nil if the user is not signed in.
	Load(ctx context.Context) (*Tokens, error)
	// Save stores the tokens. A renewal invalidates the old refresh token, so Save must not return before the tokens are
	// stored durably.
	Save(ctx context.Context, tokens Tokens) error
	// Clear deletes the stored tokens.
	Clear(ctx context.Context) error
}

// MemoryStore is a TokenStore in memory.
type MemoryStore struct {
	mutex  sync.Mutex
	tokens *Tokens
}

// NewMemoryStore returns a store that contains these tokens.
func NewMemoryStore(tokens Tokens) *MemoryStore { return &MemoryStore{tokens: &tokens} }

// Load returns the tokens.
func (s *MemoryStore) Load(context.Context) (*Tokens, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.tokens == nil {
		return nil, nil
	}
	tokens := *s.tokens
	return &tokens, nil
}

// Save replaces the tokens.
func (s *MemoryStore) Save(_ context.Context, tokens Tokens) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.tokens = &tokens
	return nil
}

// Clear deletes the tokens.
func (s *MemoryStore) Clear(context.Context) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.tokens = nil
	return nil
}

// Session provides valid access tokens of one signed-in user. It is safe for concurrent use.
//
//   - If the token has expired, it is renewed once, however many callers need it. A caller whose context ends does not end
//     the renewal.
//   - New tokens are saved before any caller gets them.
//   - Several processes may share a store: each first checks whether another one has renewed the tokens.
type Session struct {
	provider *Provider
	store    TokenStore

	mutex   sync.Mutex
	renewal *renewal
}

type renewal struct {
	done   chan struct{}
	tokens *Tokens
	err    error
}

var _ aldaba.TokenSource = (*Session)(nil)

// NewSession returns a session whose tokens are in the store, or will be.
func NewSession(provider *Provider, store TokenStore) *Session {
	return &Session{provider: provider, store: store}
}

// AccessToken returns a valid access token; it renews the tokens if needed.
func (s *Session) AccessToken(ctx context.Context) (aldaba.Secret, error) {
	tokens, err := s.load(ctx)
	if err != nil {
		return "", err
	}
	if tokens.isValid(s.provider.config.Now()) {
		return tokens.AccessToken, nil
	}
	return s.ReplaceToken(ctx, tokens.AccessToken)
}

// ReplaceToken renews the tokens, unless the stored access token already differs from the refused one.
func (s *Session) ReplaceToken(ctx context.Context, refused aldaba.Secret) (aldaba.Secret, error) {
	s.mutex.Lock()
	current := s.renewal
	if current == nil {
		current = &renewal{done: make(chan struct{})}
		s.renewal = current
		go s.run(current, refused)
	}
	s.mutex.Unlock()
	select {
	case <-current.done:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if current.err != nil {
		return "", current.err
	}
	return current.tokens.AccessToken, nil
}

func (s *Session) run(current *renewal, refused aldaba.Secret) {
	ctx, cancel := context.WithTimeout(context.Background(), renewalTimeout)
	defer cancel()
	current.tokens, current.err = s.renew(ctx, refused)
	s.mutex.Lock()
	s.renewal = nil
	s.mutex.Unlock()
	close(current.done)
}

func (s *Session) renew(ctx context.Context, refused aldaba.Secret) (*Tokens, error) {
	tokens, err := s.load(ctx)
	if err != nil {
		return nil, err
	}
	if tokens.AccessToken != refused && tokens.isValid(s.provider.config.Now()) {
		return tokens, nil
	}
	renewed, err := s.provider.Refresh(ctx, *tokens)
	var refusal *OAuthError
	if errors.As(err, &refusal) && refusal.Code == "invalid_grant" {
		// Another process may have renewed the tokens, longer ago than the service's grace period.
		now, err := s.load(ctx)
		if err != nil {
			return nil, err
		}
		if now.RefreshToken != tokens.RefreshToken && now.isValid(s.provider.config.Now()) {
			return now, nil
		}
		return nil, fmt.Errorf("the sign-in has ended (%s): %w", refusal.Description, aldaba.ErrSignInRequired)
	}
	if err != nil {
		return nil, err
	}
	if err := s.store.Save(ctx, renewed); err != nil {
		return nil, fmt.Errorf("the token store failed: %w", err)
	}
	return &renewed, nil
}

// SignOut deletes the stored tokens and revokes them. They are deleted even if the revocation fails.
func (s *Session) SignOut(ctx context.Context) error {
	tokens, err := s.load(ctx)
	if errors.Is(err, aldaba.ErrSignInRequired) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := s.store.Clear(ctx); err != nil {
		return fmt.Errorf("the token store failed: %w", err)
	}
	return s.provider.Revoke(ctx, *tokens)
}

func (s *Session) load(ctx context.Context) (*Tokens, error) {
	tokens, err := s.store.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("the token store failed: %w", err)
	}
	if tokens == nil {
		return nil, fmt.Errorf("no user is signed in: %w", aldaba.ErrSignInRequired)
	}
	return tokens, nil
}
