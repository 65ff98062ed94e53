// Package httpcall sends HTTP requests with retries, and turns error responses into errors.
package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// The largest response body that is read.
const bodyBytesMax = 64 << 20

const (
	timeout    = 30 * time.Second
	firstPause = 200 * time.Millisecond
)

// RetryPolicy says how often and how long a call is retried.
type RetryPolicy struct {
	// AttemptsMax is the maximum number of attempts, including the first. 0 stands for 4.
	AttemptsMax int
	// WaitMax is the maximum total time between attempts. If Retry-After asks for more, the error is returned at
	// once. 0 stands for a minute.
	WaitMax time.Duration
}

func (p RetryPolicy) orDefaults() RetryPolicy {
	if p.AttemptsMax <= 0 {
		p.AttemptsMax = 4
	}
	if p.WaitMax <= 0 {
		p.WaitMax = time.Minute
	}
	return p
}

// Request is a request that can be sent several times.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
	// Idempotent requests are retried even if it is unknown whether the service processed them.
	Idempotent bool
}

// Name is the method and the URL without its query, which may contain secrets.
func (r *Request) Name() string {
	address, _, _ := strings.Cut(r.URL, "?")
	return r.Method + " " + address
}

// Response is a complete response.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// IsSuccess says whether the status is 2xx.
func (r *Response) IsSuccess() bool { return r.Status >= 200 && r.Status < 300 }

// Sender sends requests.
type Sender struct {
	client *http.Client
	retry  RetryPolicy
}

// NewSender returns a sender. Without a client it uses one with a timeout of 30 seconds. Redirects are never followed,
// because they could carry the credentials to another host.
func NewSender(client *http.Client, retry RetryPolicy) *Sender {
	own := http.Client{Timeout: timeout}
	if client != nil {
		own = *client
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Sender{client: &own, retry: retry.orDefaults()}
}

// Send sends a request and returns the last response, whatever its status. It retries 429 and 503, and idempotent
// requests without a response.
func (s *Sender) Send(ctx context.Context, request *Request) (*Response, error) {
	var waited time.Duration
	for attempt := 1; ; attempt++ {
		response, err := s.sendOnce(ctx, request)
		var pause time.Duration
		switch {
		case err != nil && (!request.Idempotent || ctx.Err() != nil):
			return nil, err
		case err != nil:
			pause = backoff(attempt)
		case response.Status == http.StatusTooManyRequests || response.Status == http.StatusServiceUnavailable:
			var told bool
			if pause, told = RetryAfter(response.Header, time.Now()); !told {
				pause = backoff(attempt)
			}
		default:
			return response, nil
		}
		if attempt >= s.retry.AttemptsMax || waited+pause > s.retry.WaitMax {
			return response, err
		}
		waited += pause
		if err := Sleep(ctx, pause); err != nil {
			return nil, fmt.Errorf("%s: %w", request.Name(), err)
		}
	}
}

func (s *Sender) sendOnce(ctx context.Context, request *Request) (*Response, error) {
	sent, err := http.NewRequestWithContext(ctx, request.Method, request.URL, bytes.NewReader(request.Body))
	if err != nil {
		return nil, fmt.Errorf("%s: the request cannot be built", request.Name())
	}
	for name, values := range request.Header {
		sent.Header[name] = values
	}
	received, err := s.client.Do(sent)
	if err != nil {
		return nil, unreachable(request, err)
	}
	defer received.Body.Close()
	body, err := io.ReadAll(io.LimitReader(received.Body, bodyBytesMax+1))
	if err != nil {
		return nil, unreachable(request, err)
	}
	if len(body) > bodyBytesMax {
		return nil, fmt.Errorf("%s: the response has more than %d bytes; request smaller pages", request.Name(), bodyBytesMax)
	}
	return &Response{Status: received.StatusCode, Header: received.Header, Body: body}, nil
}

// UnreachableError means that there was no complete response.
type UnreachableError struct {
	// Call is the method and the URL, without the query.
	Call string
	// Err is the error of the connection.
	Err error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("%s: no response (%v); check that the URL is right and reachable, then try again", e.Call, e.Err)
}

// Unwrap returns the error of the connection.
func (e *UnreachableError) Unwrap() error { return e.Err }

func unreachable(request *Request, err error) error {
	// The message of a url.Error contains the whole URL.
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return &UnreachableError{Call: request.Name(), Err: err}
}

// backoff doubles with each attempt. Half of it is random, so that clients which fail together do not retry together.
func backoff(attempt int) time.Duration {
	if attempt > 8 {
		attempt = 8
	}
	pause := firstPause << (attempt - 1)
	return pause/2 + time.Duration(rand.Int63n(int64(pause/2)+1))
}

// RetryAfter is the pause that the response asks for, and whether it asks for one.
func RetryAfter(header http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	if at, err := http.ParseTime(value); err == nil {
		if pause := at.Sub(now); pause > 0 {
			return pause, true
		}
		return 0, true
	}
	return 0, false
}

// Sleep waits, or returns the error of the context.
func Sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ParseBody parses the JSON body of a successful response.
func ParseBody(call string, body []byte, into interface{}) error {
	if err := json.Unmarshal(body, into); err != nil {
		return fmt.Errorf("%s: invalid response (%v); check that the URL is that of the service", call, err)
	}
	return nil
}

// CheckURL checks a URL from the application and removes its trailing slash. It must be https, or http on loopback, so
// that no key or token is sent unencrypted.
func CheckURL(what, address string) (string, error) {
	parsed, err := url.Parse(address)
	if err != nil || parsed.Host == "" {
		return "", fmt.Errorf("%s: %q is not an absolute URL; it must begin with https:// and a host", what, address)
	}
	isLoopback := parsed.Hostname() == "localhost" || net.ParseIP(parsed.Hostname()).IsLoopback()
	if parsed.Scheme != "https" && !(parsed.Scheme == "http" && isLoopback) {
		return "", fmt.Errorf("%s: %q is not encrypted; plain http is allowed only on loopback", what, address)
	}
	if parsed.RawQuery != "" || parsed.Fragment != "" || parsed.User != nil {
		return "", fmt.Errorf("%s: %q must have no query, no fragment and no user name", what, address)
	}
	return strings.TrimRight(address, "/"), nil
}
