package signin

import (
	"context"
	"crypto"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"time"
)

const (
	tokenBytesMax = 16 * 1024
	// The allowed difference between clocks.
	leeway     = 60 * time.Second
	keyBitsMin = 2048
)

// ErrIDToken matches, with errors.Is, every reason why an id_token cannot be trusted. Start the sign-in again.
var ErrIDToken = errors.New("the id_token cannot be trusted")

type idTokenError string

func (e idTokenError) Error() string      { return ErrIDToken.Error() + ": " + string(e) }
func (idTokenError) Is(target error) bool { return target == ErrIDToken }

// The reasons why an id_token cannot be trusted.
var (
	ErrIDTokenMalformed   error = idTokenError("it is not a valid JWT")
	ErrIDTokenAlgorithm   error = idTokenError("it is not signed with RS256")
	ErrIDTokenKey         error = idTokenError("the issuer has no such key")
	ErrIDTokenSignature   error = idTokenError("its signature is wrong")
	ErrIDTokenIssuer      error = idTokenError("it was issued by another issuer")
	ErrIDTokenAudience    error = idTokenError("it is for another client")
	ErrIDTokenExpired     error = idTokenError("it has expired, or this machine's clock is ahead")
	ErrIDTokenFuture      error = idTokenError("it was issued in the future, or this machine's clock is behind")
	ErrIDTokenNonce       error = idTokenError("its nonce is not the one that was sent")
	ErrIDTokenCode        error = idTokenError("it belongs to another code (c_hash)")
	ErrIDTokenAccessToken error = idTokenError("it belongs to another access token (at_hash)")
	ErrIDTokenSubject     error = idTokenError("it is for another user than before")
)

// Identity is the user who signed in, from a verified id_token.
type Identity struct {
	// Sub is the stable id of the user.
	Sub string
	// Claims are all claims, such as `given_name` and `email`, depending on the requested scopes.
	Claims map[string]interface{}
}

// Text is the value of a claim that is a string, or an empty string.
func (i *Identity) Text(claim string) string {
	text, _ := i.Claims[claim].(string)
	return text
}

type jwk struct {
	KeyID     string `json:"kid"`
	Type      string `json:"kty"`
	Algorithm string `json:"alg"`
	Use       string `json:"use"`
	Modulus   string `json:"n"`
	Exponent  string `json:"e"`
}

func (k jwk) isForSigning() bool {
	return k.Type == "RSA" && (k.Algorithm == "" || k.Algorithm == "RS256") && (k.Use == "" || k.Use == "sig")
}

func (k jwk) publicKey() (*rsa.PublicKey, error) {
	n, errN := base64.RawURLEncoding.DecodeString(k.Modulus)
	e, errE := base64.RawURLEncoding.DecodeString(k.Exponent)
	if errN != nil || errE != nil || len(e) == 0 || len(e) > 4 {
		return nil, ErrIDTokenKey
	}
	key := &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(new(big.Int).SetBytes(e).Int64())}
	if key.N.BitLen() < keyBitsMin {
		return nil, ErrIDTokenKey
	}
	return key, nil
}

// expected are the claims that a token must have; empty ones are not checked.
type expected struct {
	nonce string
	// The code and the access token of the same response.
	code, accessToken string
	// The user of the previous id_token.
	sub string
}

func (p *Provider) verify(ctx context.Context, token string, expected expected) (*Identity, error) {
	var header struct {
		Algorithm string `json:"alg"`
		KeyID     string `json:"kid"`
	}
	parts := strings.Split(token, ".")
	if len(token) > tokenBytesMax || len(parts) != 3 || decode(parts[0], &header) != nil {
		return nil, ErrIDTokenMalformed
	}
	// No other algorithm is accepted, whatever the header says.
	if header.Algorithm != "RS256" {
		return nil, ErrIDTokenAlgorithm
	}
	keys, err := p.discovery.keys(ctx, header.KeyID)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		if key.KeyID == header.KeyID && key.isForSigning() {
			if err := verifySignature(key, parts); err != nil {
				return nil, err
			}
			return p.checkClaims(parts[1], expected)
		}
	}
	return nil, ErrIDTokenKey
}

func verifySignature(key jwk, parts []string) error {
	public, err := key.publicKey()
	if err != nil {
		return err
	}
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil {
		return ErrIDTokenMalformed
	}
	hash := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if rsa.VerifyPKCS1v15(public, crypto.SHA256, hash[:], signature) != nil {
		return ErrIDTokenSignature
	}
	return nil
}

// checkClaims checks the claims of a token whose signature is valid.
func (p *Provider) checkClaims(payload string, expected expected) (*Identity, error) {
	identity := &Identity{}
	if decode(payload, &identity.Claims) != nil {
		return nil, ErrIDTokenMalformed
	}
	identity.Sub = identity.Text("sub")
	now := p.config.Now()
	expires, hasExpiry := identity.Claims["exp"].(float64)
	issued, hasIssued := identity.Claims["iat"].(float64)
	switch {
	case identity.Text("iss") != p.issuer:
		return nil, ErrIDTokenIssuer
	case !isFor(identity.Claims, p.config.ClientID):
		return nil, ErrIDTokenAudience
	case !hasExpiry || !now.Before(time.Unix(int64(expires), 0).Add(leeway)):
		return nil, ErrIDTokenExpired
	case !hasIssued || time.Unix(int64(issued), 0).After(now.Add(leeway)):
		return nil, ErrIDTokenFuture
	case expected.nonce != "" && identity.Text("nonce") != expected.nonce:
		return nil, ErrIDTokenNonce
	case expected.code != "" && identity.Text("c_hash") != halfHash(expected.code):
		return nil, ErrIDTokenCode
	// With an access token, at_hash is optional.
	case expected.accessToken != "" && identity.Text("at_hash") != "" && identity.Text("at_hash") != halfHash(expected.accessToken):
		return nil, ErrIDTokenAccessToken
	case identity.Sub == "":
		return nil, ErrIDTokenMalformed
	case expected.sub != "" && identity.Sub != expected.sub:
		return nil, ErrIDTokenSubject
	}
	return identity, nil
}

// isFor says whether the audience is this client. With several audiences, azp must name it, too.
func isFor(claims map[string]interface{}, clientID string) bool {
	audiences, isArray := claims["aud"].([]interface{})
	if !isArray {
		return claims["aud"] == clientID
	}
	for _, one := range audiences {
		if one == clientID {
			return len(audiences) == 1 || claims["azp"] == clientID
		}
	}
	return false
}

func decode(part string, into interface{}) error {
	bytes, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return fmt.Errorf("base64url: %w", err)
	}
	return json.Unmarshal(bytes, into)
}

// halfHash is the left half of a SHA-256 hash, in base64url.
func halfHash(text string) string {
	hash := sha256.Sum256([]byte(text))
	return base64url(hash[:16])
}
