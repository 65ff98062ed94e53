// Package receiver receives webhooks of both families: it verifies signatures, answers handshakes, parses events, and
// processes each event once.
//
//	inbox := receiver.NewInbox(store)
//	http.Handle("/hooks", receiver.NewHandler(receiver.NewVerifier("secret"), func(ctx context.Context, event receiver.Event) error {
//		_, err := inbox.ProcessOnce(ctx, event.Received(), func(ctx context.Context) error { return update(ctx, event) })
//		return err
//	}))
package receiver

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	aldaba "aldaba.dev/kit"
)

// Scheme is a way to sign deliveries. Its value is the header of the signature.
type Scheme string

// The schemes.
const (
	Accounting Scheme = "svc-webhook-signature"
	Invoicing  Scheme = "ms-signature"
	Standard   Scheme = "webhook-signature"
)

// Tolerance is what Standard Webhooks recommends between the time of a signature and now.
const Tolerance = 5 * time.Minute

const standardPrefix = "whsec_"

// Why a delivery is refused. Log the reason, and answer 401 without it.
var (
	ErrNoSignature = errors.New("the delivery has no signature")
	ErrSignature   = errors.New("the signature does not match: the secret is another one, or the body has changed")
	ErrTimestamp   = errors.New("the signature is too old, or this machine's clock is wrong")
)

// Verifier verifies deliveries. By default one valid signature of any scheme is enough. The contract's own signatures do
// not cover a timestamp, so that somebody who captured a delivery can send it again: process each event once with an
// Inbox, or set OnlyStandard.
type Verifier struct {
	// Secrets are those of the webhooks, several during a rotation.
	Secrets []aldaba.Secret
	// OnlyStandard accepts only the signature of Standard Webhooks, which covers the timestamp.
	OnlyStandard bool
	// Tolerance is that between the timestamp and now; 0 stands for 5 minutes.
	Tolerance time.Duration
	// Now is the clock; for tests.
	Now func() time.Time
}

// NewVerifier accepts the signatures of all schemes that were made with one of these secrets.
func NewVerifier(secrets ...aldaba.Secret) *Verifier { return &Verifier{Secrets: secrets} }

// Verify returns the scheme of the signature that matches. body is the received body, byte by byte, before any parsing.
func (v *Verifier) Verify(header http.Header, body []byte) (Scheme, error) {
	schemes := []Scheme{Standard}
	if !v.OnlyStandard {
		schemes = []Scheme{Accounting, Invoicing, Standard}
	}
	result := ErrNoSignature
	for _, scheme := range schemes {
		signature := header.Get(string(scheme))
		if signature == "" {
			continue
		}
		isInTime := scheme != Standard || v.isInTime(header.Get("webhook-timestamp"))
		for _, secret := range v.Secrets {
			if !matches(scheme, header, body, secret, signature) {
				continue
			}
			if isInTime {
				return scheme, nil
			}
			result = ErrTimestamp
		}
		if result == ErrNoSignature {
			result = ErrSignature
		}
	}
	return "", result
}

func (v *Verifier) isInTime(timestamp string) bool {
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil {
		return false
	}
	now, tolerance := time.Now, v.Tolerance
	if v.Now != nil {
		now = v.Now
	}
	if tolerance == 0 {
		tolerance = Tolerance
	}
	age := now().Sub(time.Unix(seconds, 0))
	return age <= tolerance && age >= -tolerance
}

// matches compares in constant time.
func matches(scheme Scheme, header http.Header, body []byte, secret aldaba.Secret, signature string) bool {
	if secret == "" {
		return false
	}
	if scheme != Standard {
		return hmac.Equal([]byte(Sign(secret, body)), []byte(signature))
	}
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	wanted := []byte(SignStandard(secret, id, timestamp, body))
	isFound := false
	// During a rotation the header has several signatures.
	for _, one := range strings.Split(signature, " ") {
		isFound = hmac.Equal(wanted, []byte(one)) || isFound
	}
	return isFound
}

// Sign makes the contract's signature of a body, the same for both families; for tests of your own.
func Sign(secret aldaba.Secret, body []byte) string {
	return "sha256=" + strings.ToUpper(hex.EncodeToString(mac([]byte(secret), body)))
}

// SignStandard makes the signature of Standard Webhooks; for tests of your own.
func SignStandard(secret aldaba.Secret, id, timestamp string, body []byte) string {
	key := []byte(secret)
	if strings.HasPrefix(string(secret), standardPrefix) {
		if decoded, err := base64.StdEncoding.DecodeString(string(secret[len(standardPrefix):])); err == nil {
			key = decoded
		}
	}
	return "v1," + base64.StdEncoding.EncodeToString(mac(key, []byte(id), []byte("."), []byte(timestamp), []byte("."), body))
}

func mac(key []byte, parts ...[]byte) []byte {
	hash := hmac.New(sha256.New, key)
	for _, part := range parts {
		hash.Write(part)
	}
	return hash.Sum(nil)
}
