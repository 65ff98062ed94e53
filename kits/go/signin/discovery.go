package signin

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"time"

	"aldaba.dev/kit/internal/httpcall"
)

const (
	cacheLifetime = 5 * time.Minute
	// Tokens with unknown keys do not cause more frequent requests than this.
	refetchIntervalMin = 10 * time.Second
	keysMax            = 50
)

type metadata struct {
	Issuer             string `json:"issuer"`
	KeysURI            string `json:"jwks_uri"`
	RevocationEndpoint string `json:"revocation_endpoint"`
	EndSessionEndpoint string `json:"end_session_endpoint"`
}

// discovery fetches and caches the metadata and the keys of the identity provider.
type discovery struct {
	issuer string
	sender *httpcall.Sender
	now    func() time.Time

	mutex  sync.Mutex
	cached *found
}

type found struct {
	metadata metadata
	keys     []jwk
	at       time.Time
}

func (d *discovery) metadata(ctx context.Context) (*metadata, error) {
	found, err := d.find(ctx, func(*found) bool { return true })
	if err != nil {
		return nil, err
	}
	return &found.metadata, nil
}

// keys fetches again if the cached keys lack this one, which may be new.
func (d *discovery) keys(ctx context.Context, kid string) ([]jwk, error) {
	found, err := d.find(ctx, func(cached *found) bool {
		for _, key := range cached.keys {
			if key.KeyID == kid {
				return true
			}
		}
		return false
	})
	if err != nil {
		return nil, err
	}
	return found.keys, nil
}

func (d *discovery) find(ctx context.Context, isEnough func(*found) bool) (*found, error) {
	d.mutex.Lock()
	defer d.mutex.Unlock()
	now := d.now()
	if d.cached != nil {
		age := now.Sub(d.cached.at)
		if age < refetchIntervalMin || (age < cacheLifetime && isEnough(d.cached)) {
			return d.cached, nil
		}
	}
	fetched, err := d.fetch(ctx, now)
	if err != nil {
		return nil, err
	}
	d.cached = fetched
	return fetched, nil
}

func (d *discovery) fetch(ctx context.Context, now time.Time) (*found, error) {
	fetched := &found{at: now}
	if err := d.get(ctx, d.issuer+"/.well-known/openid-configuration", &fetched.metadata); err != nil {
		return nil, err
	}
	if fetched.metadata.Issuer != d.issuer {
		return nil, fmt.Errorf("the identity provider at this URL has the issuer %q; use the URL that it is configured with", fetched.metadata.Issuer)
	}
	for _, address := range []string{fetched.metadata.KeysURI, fetched.metadata.RevocationEndpoint, fetched.metadata.EndSessionEndpoint} {
		if _, err := httpcall.CheckURL("a URL in the metadata of the identity provider", address); err != nil {
			return nil, err
		}
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := d.get(ctx, fetched.metadata.KeysURI, &set); err != nil {
		return nil, err
	}
	for index, text := range set.Keys {
		var key jwk
		// Skip keys of unknown types: they are for other purposes.
		if index < keysMax && json.Unmarshal(text, &key) == nil {
			fetched.keys = append(fetched.keys, key)
		}
	}
	return fetched, nil
}

func (d *discovery) get(ctx context.Context, address string, into interface{}) error {
	request := &httpcall.Request{Method: http.MethodGet, URL: address, Idempotent: true}
	response, err := d.sender.Send(ctx, request)
	if err != nil {
		return err
	}
	if !response.IsSuccess() {
		return httpcall.NewAPIError(request.Name(), response)
	}
	return httpcall.ParseBody(request.Name(), response.Body, into)
}
