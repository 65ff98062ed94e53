package aldaba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf16"

	"aldaba.dev/kit/internal/httpcall"
)

// Secret is a text that fmt does not print. JSON contains it in plain text.
type Secret string

// String hides the secret.
func (Secret) String() string { return "***" }

// GoString hides the secret.
func (Secret) GoString() string { return "***" }

// The errors of calls.
type (
	// APIError is an error response of the service.
	APIError = httpcall.APIError
	// FieldError is one error in a request, with a stable code.
	FieldError = httpcall.FieldError
	// UnreachableError means that there was no complete response. Idempotent calls were retried before.
	UnreachableError = httpcall.UnreachableError
	// RetryPolicy says how often and how long a call is retried.
	RetryPolicy = httpcall.RetryPolicy
)

var (
	// ErrNotFound matches, with errors.Is, an APIError whose status is 404.
	ErrNotFound = httpcall.ErrNotFound
	// ErrSignInRequired means that there are no tokens, or that they cannot be renewed: send the user to sign in again.
	ErrSignInRequired = errors.New("send the user to sign in again")
)

// TokenSource provides access tokens; usually a signin.Session.
type TokenSource interface {
	// AccessToken returns a valid access token.
	AccessToken(ctx context.Context) (Secret, error)
	// ReplaceToken returns a new access token after the service refused this one.
	ReplaceToken(ctx context.Context, refused Secret) (Secret, error)
}

// StaticToken is an access token that cannot be renewed; for scripts and tests.
type StaticToken Secret

// AccessToken returns the token.
func (t StaticToken) AccessToken(context.Context) (Secret, error) { return Secret(t), nil }

// ReplaceToken fails with ErrSignInRequired.
func (StaticToken) ReplaceToken(context.Context, Secret) (Secret, error) {
	return "", fmt.Errorf("the access token was refused and cannot be renewed: %w", ErrSignInRequired)
}

// String hides the token.
func (StaticToken) String() string { return "***" }

// GoString hides the token.
func (StaticToken) GoString() string { return "***" }

// Client calls the APIs for one user. It is safe for concurrent use.
type Client struct {
	baseURL string
	key     Secret
	tokens  TokenSource
	sender  *httpcall.Sender
}

// Option configures a Client.
type Option func(*options)

type options struct {
	client *http.Client
	retry  RetryPolicy
}

// WithHTTPClient sends the calls with this client. Redirects are not followed.
func WithHTTPClient(client *http.Client) Option {
	return func(o *options) { o.client = client }
}

// WithRetryPolicy sets how often and how long calls are retried.
func WithRetryPolicy(policy RetryPolicy) Option {
	return func(o *options) { o.retry = policy }
}

// New returns a client. baseURL is the URL of the service without a path, key a subscription key.
func New(baseURL string, key Secret, tokens TokenSource, given ...Option) (*Client, error) {
	baseURL, err := httpcall.CheckURL("the URL of the service", baseURL)
	if err != nil {
		return nil, err
	}
	if key == "" || tokens == nil {
		return nil, errors.New("a client needs a subscription key and a source of access tokens")
	}
	var o options
	for _, option := range given {
		option(&o)
	}
	return &Client{baseURL: baseURL, key: key, tokens: tokens, sender: httpcall.NewSender(o.client, o.retry)}, nil
}

// String shows the URL of the service, without the subscription key.
func (c *Client) String() string { return "aldaba.Client(" + c.baseURL + ")" }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// A call before its credentials are added.
type call struct {
	method string
	// Relative to the base URL, with the query.
	path       string
	context    string
	body       interface{}
	etag       string
	idempotent bool
}

func get(path string) call { return call{method: http.MethodGet, path: path, idempotent: true} }

func (c call) name() string {
	path, _, _ := strings.Cut(c.path, "?")
	return c.method + " " + path
}

// inCompany sets the context to a company; an empty one leaves it out.
func (c call) inCompany(company string) call {
	if company != "" {
		c.context = contextOf(company)
	}
	return c
}

// contextOf is the context header of a company. Characters outside of ASCII are escaped as in JSON.
func contextOf(company string) string {
	plain, _ := json.Marshal(map[string]string{"clientId": company})
	var text strings.Builder
	for _, unit := range utf16.Encode([]rune(string(plain))) {
		if unit >= 0x20 && unit < 0x7f {
			text.WriteByte(byte(unit))
		} else {
			fmt.Fprintf(&text, "\\u%04x", unit)
		}
	}
	return text.String()
}

// typed sends a call and parses the body of its response.
func (c *Client) typed(ctx context.Context, call call, into interface{}) error {
	response, err := c.send(ctx, call)
	if err != nil {
		return err
	}
	return httpcall.ParseBody(call.name(), response.Body, into)
}

// send returns a successful response, or 304 to a conditional call. It renews a refused token once.
func (c *Client) send(ctx context.Context, call call) (*httpcall.Response, error) {
	token, err := c.tokens.AccessToken(ctx)
	if err != nil {
		return nil, err
	}
	response, err := c.sendWith(ctx, call, token)
	if err != nil {
		return nil, err
	}
	if isTokenRefused(response) {
		if token, err = c.tokens.ReplaceToken(ctx, token); err != nil {
			return nil, err
		}
		if response, err = c.sendWith(ctx, call, token); err != nil {
			return nil, err
		}
	}
	if response.IsSuccess() || (response.Status == http.StatusNotModified && call.etag != "") {
		return response, nil
	}
	return nil, httpcall.NewAPIError(call.name(), response)
}

func (c *Client) sendWith(ctx context.Context, call call, token Secret) (*httpcall.Response, error) {
	header := http.Header{}
	header.Set("Ocp-Apim-Subscription-Key", string(c.key))
	header.Set("Authorization", "Bearer "+string(token))
	header.Set("Content-Type", "application/json")
	if call.context != "" {
		header.Set("Context", call.context)
	}
	if call.etag != "" {
		header.Set("If-None-Match", call.etag)
	}
	request := &httpcall.Request{
		Method: call.method, URL: c.baseURL + call.path, Header: header, Idempotent: call.idempotent,
	}
	if call.body != nil {
		body, err := json.Marshal(call.body)
		if err != nil {
			return nil, fmt.Errorf("%s: the body cannot be written: %w", call.name(), err)
		}
		request.Body = body
	}
	return c.sender.Send(ctx, request)
}

// isTokenRefused says whether the service refused the access token, rather than the subscription key.
func isTokenRefused(response *httpcall.Response) bool {
	return response.Status == http.StatusUnauthorized &&
		strings.Contains(response.Header.Get("WWW-Authenticate"), "invalid_token")
}

// find reads one record.
func find[T any](ctx context.Context, c *Client, resource Resource, company, id string) (*T, error) {
	if id == "" {
		return nil, errors.New("the id of the record is empty")
	}
	var found T
	path := resource.Path() + "/" + url.PathEscape(id)
	if err := c.typed(ctx, get(path).inCompany(resource.contextCompany(company)), &found); err != nil {
		return nil, err
	}
	return &found, nil
}
