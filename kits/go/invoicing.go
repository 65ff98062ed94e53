package aldaba

import (
	"context"
	"net/http"
)

// The actions of an invoicing subscription.
const (
	Created = "Created"
	Updated = "Updated"
	Deleted = "Deleted"
)

// InvoicingSubscription is the request for an invoicing webhook.
type InvoicingSubscription struct {
	// URI is `https://<host>/api/webhooks/incoming/Invoicing`; see InvoicingURI.
	URI string `json:"uri"`
	// Entity is the kind of record, such as `Customer` or `SaleInvoice`.
	Entity string `json:"entity"`
	// Action is Created, Updated or Deleted. `CompanyData` and `CompanySettings` have only Updated.
	Action string `json:"action"`
	// Secret signs the deliveries: 1 to 256 bytes.
	Secret Secret `json:"secret"`
	// IsPaused creates the subscription paused.
	IsPaused bool `json:"isPaused"`
	// ApplicationName is shown to people.
	ApplicationName string `json:"applicationName"`
	Description     string `json:"description"`
}

// InvoicingURI is the address of a receiver of invoicing on this host.
func InvoicingURI(host string) string { return "https://" + host + "/api/webhooks/incoming/Invoicing" }

// InvoicingWebhook is an invoicing webhook.
type InvoicingWebhook struct {
	ID              string `json:"id"`
	URI             string `json:"uri"`
	Entity          string `json:"entity"`
	Action          string `json:"action"`
	IsPaused        bool   `json:"isPaused"`
	ApplicationName string `json:"applicationName"`
	Description     string `json:"description"`
	// Status is `Pending` until the receiver has accepted the handshake, then `Effective`; or `Paused`, `Disabled` or
	// `Deleted`.
	Status string `json:"status"`
	// Doubt says why the receiver's host may not belong to the subscriber; empty if there is no doubt.
	Doubt string `json:"doubt,omitempty"`
}

// InvoicingWebhooks manages the webhooks of invoicing.
type InvoicingWebhooks struct{ client *Client }

const invoicingWebhooks = invoicing + "/webhooks"

// InvoicingWebhooks manages the webhooks of invoicing.
func (c *Client) InvoicingWebhooks() *InvoicingWebhooks { return &InvoicingWebhooks{client: c} }

func (w *InvoicingWebhooks) one(ctx context.Context, method, suffix string, body interface{}) (*InvoicingWebhook, error) {
	var webhook InvoicingWebhook
	call := call{method: method, path: invoicingWebhooks + suffix, body: body, idempotent: true}
	if err := w.client.typed(ctx, call, &webhook); err != nil {
		return nil, err
	}
	return &webhook, nil
}

// Subscribe creates a webhook. The same subscription returns the same webhook.
func (w *InvoicingWebhooks) Subscribe(ctx context.Context, subscription InvoicingSubscription) (*InvoicingWebhook, error) {
	return w.one(ctx, http.MethodPost, "", subscription)
}

// List returns all subscriptions that are not deleted.
func (w *InvoicingWebhooks) List(ctx context.Context) ([]InvoicingWebhook, error) {
	var webhooks []InvoicingWebhook
	err := w.client.typed(ctx, get(invoicingWebhooks), &webhooks)
	return webhooks, err
}

// Get reads one webhook; the error is ErrNotFound if it is deleted or belongs to another client.
func (w *InvoicingWebhooks) Get(ctx context.Context, id string) (*InvoicingWebhook, error) {
	return w.one(ctx, http.MethodGet, "/"+id, nil)
}

// Delete deletes a webhook and returns its last state. Deletion is permanent.
func (w *InvoicingWebhooks) Delete(ctx context.Context, id string) (*InvoicingWebhook, error) {
	return w.one(ctx, http.MethodDelete, "/"+id, nil)
}

// SetPaused pauses or resumes deliveries. Changes made while paused are not delivered later.
func (w *InvoicingWebhooks) SetPaused(ctx context.Context, id string, paused bool) (*InvoicingWebhook, error) {
	return w.one(ctx, http.MethodPut, "/"+id, map[string]bool{"isPaused": paused})
}

// RotateSecret replaces the secret. For the hours of the overlap, `webhook-signature` has a signature of both secrets.
func (w *InvoicingWebhooks) RotateSecret(ctx context.Context, id string, secret Secret, overlapHours int) (*RotatedSecret, error) {
	var rotated RotatedSecret
	body := map[string]interface{}{"secret": string(secret), "overlapHours": overlapHours}
	call := call{method: http.MethodPut, path: invoicingWebhooks + "/" + id + "/secret", body: body, idempotent: true}
	if err := w.client.typed(ctx, call, &rotated); err != nil {
		return nil, err
	}
	return &rotated, nil
}

// WaitUntilEffective waits until the receiver has accepted the handshake, or the context ends.
func (w *InvoicingWebhooks) WaitUntilEffective(ctx context.Context, id string) error {
	return poll(ctx, "the echo of webhook "+id, func() (bool, error) {
		webhook, err := w.Get(ctx, id)
		return err == nil && webhook.Status == "Effective", err
	})
}

// History returns the deliveries, health and replays of a webhook.
func (w *InvoicingWebhooks) History(id string) *History {
	return &History{client: w.client, path: invoicingWebhooks + "/" + id}
}
