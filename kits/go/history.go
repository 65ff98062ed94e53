package aldaba

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"aldaba.dev/kit/internal/httpcall"
)

// Delivery is the delivery of one event. Members are nil if the log of the service no longer has them.
type Delivery struct {
	// OutgoingID is the id of the event, the same in every attempt: `OutgoingId`, and the header `webhook-id`.
	OutgoingID      *string `json:"outgoingId"`
	SequenceVersion int64   `json:"sequenceVersion,string"`
	Event           *string `json:"event"`
	CorrelationID   *string `json:"correlationId"`
	Company         *string `json:"company"`
	// Status is `delivered`, `waiting` or `failed`.
	Status string `json:"status"`
	// Attempts are the failed attempts and the replays, oldest first.
	Attempts      []Attempt  `json:"attempts"`
	DeliveredAt   *time.Time `json:"deliveredAt"`
	NextAttemptAt *time.Time `json:"nextAttemptAt"`
	// Body is the exact body; only from History.Delivery.
	Body *string `json:"body"`
}

// Attempt is one attempt to deliver an event.
type Attempt struct {
	// Occasion is `event`, `handshake`, `replay` or `test`.
	Occasion string    `json:"occasion"`
	At       time.Time `json:"at"`
	Number   int       `json:"number"`
	// Status is the HTTP status of the response; nil without a response.
	Status       *int         `json:"status"`
	Succeeded    bool         `json:"succeeded"`
	Reason       string       `json:"reason"`
	Excerpt      string       `json:"excerpt"`
	Milliseconds AttemptTimes `json:"milliseconds"`
}

// AttemptTimes is how long each phase of an attempt took, in milliseconds.
type AttemptTimes struct {
	Resolve int64 `json:"resolve"`
	Connect int64 `json:"connect"`
	TLS     int64 `json:"tls"`
	Wait    int64 `json:"wait"`
	Total   int64 `json:"total"`
}

// Replay sends events again, or sends a test event.
type Replay struct {
	WebhookID string `json:"webhookId"`
	Number    int64  `json:"number"`
	// Kind is `events` or `test`.
	Kind    string    `json:"kind"`
	AskedAt time.Time `json:"askedAt"`
	// After and UpTo are positions of the log: the events after the first, up to and including the second.
	After     int64 `json:"after,string"`
	UpTo      int64 `json:"upto,string"`
	Delivered int64 `json:"delivered"`
	Failed    int64 `json:"failed"`
	IsDone    bool  `json:"isDone"`
}

// Health is the health of a webhook over the last 24 hours.
type Health struct {
	WebhookID      string    `json:"webhookId"`
	IsActive       bool      `json:"isActive"`
	Since          time.Time `json:"since"`
	Delivered      int64     `json:"delivered"`
	FailedAttempts int64     `json:"failedAttempts"`
	// SuccessRate goes from 0 to 1; nil without attempts.
	SuccessRate     *float64   `json:"successRate"`
	P95Milliseconds *int       `json:"p95Milliseconds"`
	LastDeliveredAt *time.Time `json:"lastDeliveredAt"`
	FailingSince    *time.Time `json:"failingSince"`
	NextAttemptAt   *time.Time `json:"nextAttemptAt"`
	EventsBehind    int64      `json:"eventsBehind"`
	RecordsWaiting  int64      `json:"recordsWaiting"`
	Handshake       Handshake  `json:"handshake"`
	// Suspension says why nothing is sent now; nil if the webhook is not suspended.
	Suspension *Suspension `json:"suspension"`
	// Lost are events that will never be delivered: read the list again.
	Lost           *EventGap `json:"lost"`
	Doubt          *string   `json:"doubt"`
	Warnings       []string  `json:"warnings"`
	RecentAttempts []Attempt `json:"recentAttempts"`
	Replays        []Replay  `json:"replays"`
}

// Handshake is the current handshake: the Acknowledge, or the echo of invoicing.
type Handshake struct {
	Number         int       `json:"number"`
	AskedAt        time.Time `json:"askedAt"`
	IsAccepted     bool      `json:"isAccepted"`
	FailedAttempts int       `json:"failedAttempts"`
}

// Suspension says why the service sends nothing to a webhook.
type Suspension struct {
	Reason      string     `json:"reason"`
	Since       *time.Time `json:"since"`
	Explanation string     `json:"explanation"`
}

// EventGap is a range of lost events: those after the first position, up to and including the second.
type EventGap struct {
	At    time.Time `json:"at"`
	After int64     `json:"after,string"`
	UpTo  int64     `json:"upto,string"`
}

// RotatedSecret is the result of replacing a secret.
type RotatedSecret struct {
	WebhookID string `json:"webhookId"`
	// OldSecretUntil is until when the old secret signs, too.
	OldSecretUntil *time.Time `json:"oldSecretUntil"`
}

// History is the delivery history of one webhook.
type History struct {
	client        *Client
	path, context string
}

func (h *History) call(method, suffix string, body interface{}) call {
	// A replay that is sent twice sends the events twice.
	return call{method: method, path: h.path + suffix, context: h.context, body: body, idempotent: method != http.MethodPost}
}

// DeliveryQuery selects deliveries.
type DeliveryQuery struct {
	// Status is `delivered`, `waiting` or `failed`; empty selects all.
	Status string
	// Since selects the deliveries of events at or after this time.
	Since time.Time
}

// Deliveries iterates over the deliveries, newest first.
func (h *History) Deliveries(query DeliveryQuery) *Iterator[Delivery] {
	values := url.Values{"pageSize": {"100"}}
	if query.Status != "" {
		values.Set("status", query.Status)
	}
	if !query.Since.IsZero() {
		values.Set("since", query.Since.UTC().Format(time.RFC3339Nano))
	}
	next := values.Encode()
	return &Iterator[Delivery]{fetch: func(ctx context.Context) ([]Delivery, bool, error) {
		call := h.call(http.MethodGet, "/deliveries?"+next, nil)
		response, err := h.client.send(ctx, call)
		if err != nil {
			return nil, false, err
		}
		var deliveries []Delivery
		if err := httpcall.ParseBody(call.name(), response.Body, &deliveries); err != nil {
			return nil, false, err
		}
		next = nextQuery(response.Header.Get("Link"))
		return deliveries, next != "", nil
	}}
}

// nextQuery is the query of the link to the next page. Only the query is used, so that the link cannot send the
// credentials to another host.
func nextQuery(link string) string {
	for _, one := range strings.Split(link, ",") {
		if strings.Contains(one, `rel="next"`) {
			address, _, _ := strings.Cut(strings.TrimLeft(one, " <"), ">")
			_, query, _ := strings.Cut(address, "?")
			return query
		}
	}
	return ""
}

// Delivery reads one delivery with its body; the error is ErrNotFound if it does not belong to this webhook.
func (h *History) Delivery(ctx context.Context, outgoingID string) (*Delivery, error) {
	var delivery Delivery
	if err := h.client.typed(ctx, h.call(http.MethodGet, "/deliveries/"+outgoingID, nil), &delivery); err != nil {
		return nil, err
	}
	return &delivery, nil
}

// ReplayOne sends one delivery again, with the same id and body.
func (h *History) ReplayOne(ctx context.Context, outgoingID string) (*Replay, error) {
	return h.replay(ctx, "/deliveries/"+outgoingID+"/replay", nil)
}

// Replay sends all events between two times again; without `to`, up to now.
func (h *History) Replay(ctx context.Context, from time.Time, to *time.Time) (*Replay, error) {
	body := map[string]string{"from": from.UTC().Format(time.RFC3339Nano)}
	if to != nil {
		body["to"] = to.UTC().Format(time.RFC3339Nano)
	}
	return h.replay(ctx, "/replay", body)
}

// Test sends a test event.
func (h *History) Test(ctx context.Context) (*Replay, error) { return h.replay(ctx, "/test", nil) }

func (h *History) replay(ctx context.Context, suffix string, body interface{}) (*Replay, error) {
	var replay Replay
	if err := h.client.typed(ctx, h.call(http.MethodPost, suffix, body), &replay); err != nil {
		return nil, err
	}
	return &replay, nil
}

// Health reads the health of the webhook.
func (h *History) Health(ctx context.Context) (*Health, error) {
	var health Health
	if err := h.client.typed(ctx, h.call(http.MethodGet, "/health", nil), &health); err != nil {
		return nil, err
	}
	return &health, nil
}
