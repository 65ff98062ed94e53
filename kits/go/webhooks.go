package aldaba

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"aldaba.dev/kit/internal/httpcall"
)

const pollInterval = 250 * time.Millisecond

// Subscription is the request for a webhook of the accounting family.
type Subscription struct {
	// Application is the name of the application, shown to people.
	Application string `json:"thirdPartyApplicationName"`
	// URL is the address of the receiver: https, port 443, on a public address.
	URL string `json:"url"`
	// Secret signs the deliveries: 1 to 256 bytes.
	Secret Secret `json:"secret"`
	// EventTypes are semantic names; see Resource.EventTypes.
	EventTypes []string `json:"eventTypes"`
}

// Webhook is a webhook of the accounting family.
type Webhook struct {
	ID          string `json:"id"`
	Application string `json:"thirdPartyApplicationName"`
	URL         string `json:"url"`
	TenantID    string `json:"tenantId"`
	Secret      Secret `json:"secret"`
	// IsActive says whether it delivers: it is enabled, its receiver accepted the handshake, and the service has not
	// disabled it.
	IsActive       bool              `json:"isActive"`
	IsDeleted      bool              `json:"isDeleted"`
	DeletedAt      *time.Time        `json:"deletedAt,omitempty"`
	Events         []EventDescriptor `json:"events"`
	UserIdentifier string            `json:"userIdentifier"`
}

// EventDescriptor is the name of an event, in parts and as a whole.
type EventDescriptor struct {
	AppName      string `json:"appName"`
	Domain       string `json:"domain"`
	Resource     string `json:"resource"`
	EventType    string `json:"eventType"`
	SemanticName string `json:"semanticName"`
}

// OperationResult is the response to a change of a webhook of the accounting family.
type OperationResult struct {
	ResponseState int          `json:"responseState"`
	WebhookID     string       `json:"webhookId"`
	Errors        []FieldError `json:"errors"`
}

// Webhooks manages the webhooks of one resource of the accounting family.
type Webhooks struct {
	client *Client
	path   string
}

// Webhooks manages the webhooks of a resource of the accounting family.
func (c *Client) Webhooks(resource Resource) *Webhooks {
	return &Webhooks{client: c, path: resource.Path() + "/webhooks"}
}

// call builds a call that is idempotent, as all of them are, even the POSTs.
func (w *Webhooks) call(method, suffix string, body interface{}) call {
	return call{method: method, path: w.path + suffix, context: "none", body: body, idempotent: true}
}

// Events returns the semantic names of all events of the resource.
func (w *Webhooks) Events(ctx context.Context) ([]string, error) {
	var names []string
	err := w.client.typed(ctx, w.call(http.MethodGet, "/events", nil), &names)
	return names, err
}

// Subscribe creates a webhook and returns its id. The same subscription returns the same webhook and enables it, so
// applications can call this at every start.
func (w *Webhooks) Subscribe(ctx context.Context, subscription Subscription) (string, error) {
	return w.change(ctx, w.call(http.MethodPost, "/subscribe", subscription))
}

// Unsubscribe ends the webhook with exactly this subscription, and returns its id.
func (w *Webhooks) Unsubscribe(ctx context.Context, subscription Subscription) (string, error) {
	return w.change(ctx, w.call(http.MethodPost, "/unsubscribe", subscription))
}

// List returns all webhooks that are neither deleted nor unsubscribed.
func (w *Webhooks) List(ctx context.Context) ([]Webhook, error) {
	var webhooks []Webhook
	err := w.client.typed(ctx, w.call(http.MethodGet, "", nil), &webhooks)
	return webhooks, err
}

// Get reads one webhook, even if it is deleted; the error is ErrNotFound if it belongs to another client.
func (w *Webhooks) Get(ctx context.Context, id string) (*Webhook, error) {
	var webhook Webhook
	if err := w.client.typed(ctx, w.call(http.MethodGet, "/"+id, nil), &webhook); err != nil {
		return nil, err
	}
	return &webhook, nil
}

// SetEnabled enables or disables deliveries. Where the owner had disabled them, they continue with the next event.
func (w *Webhooks) SetEnabled(ctx context.Context, id string, enabled bool) error {
	body := map[string]interface{}{"webhookId": id, "enable": enabled}
	_, err := w.change(ctx, w.call(http.MethodPut, "/status/"+id, body))
	return err
}

// ChangeURL changes the URL. Deliveries continue once the new URL has accepted the handshake; no event is lost.
func (w *Webhooks) ChangeURL(ctx context.Context, id, url string) error {
	_, err := w.change(ctx, w.call(http.MethodPut, "/change/"+id, map[string]interface{}{"webhookId": id, "url": url}))
	return err
}

// Delete deletes the webhook. Deletion is permanent.
func (w *Webhooks) Delete(ctx context.Context, id string) error {
	_, err := w.change(ctx, w.call(http.MethodDelete, "/delete/"+id, nil))
	return err
}

// RotateSecret replaces the secret. For the hours of the overlap, `webhook-signature` has a signature of both secrets.
func (w *Webhooks) RotateSecret(ctx context.Context, id string, secret Secret, overlapHours int) (*RotatedSecret, error) {
	var rotated RotatedSecret
	body := map[string]interface{}{"secret": string(secret), "overlapHours": overlapHours}
	if err := w.client.typed(ctx, w.call(http.MethodPut, "/secret/"+id, body), &rotated); err != nil {
		return nil, err
	}
	return &rotated, nil
}

// WaitUntilActive waits until the receiver has accepted the handshake, or the context ends.
func (w *Webhooks) WaitUntilActive(ctx context.Context, id string) error {
	return poll(ctx, "the Acknowledge of webhook "+id, func() (bool, error) {
		webhook, err := w.Get(ctx, id)
		return err == nil && webhook.IsActive, err
	})
}

// History returns the deliveries, health and replays of a webhook.
func (w *Webhooks) History(id string) *History {
	return &History{client: w.client, path: w.path + "/" + id, context: "none"}
}

func (w *Webhooks) change(ctx context.Context, call call) (string, error) {
	var result OperationResult
	err := w.client.typed(ctx, call, &result)
	return result.WebhookID, err
}

// poll waits for a condition.
func poll(ctx context.Context, what string, isMet func() (bool, error)) error {
	for {
		met, err := isMet()
		if met || err != nil {
			return err
		}
		if err := httpcall.Sleep(ctx, pollInterval); err != nil {
			return fmt.Errorf("%s was not accepted in time: %w", what, err)
		}
	}
}
