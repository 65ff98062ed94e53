package receiver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Notification is the body that a receiver of the accounting family gets.
type Notification struct {
	WebhookID                 string            `json:"WebhookId"`
	OutgoingID                string            `json:"OutgoingId"`
	ConversationID            string            `json:"ConversationId"`
	TenantID                  string            `json:"TenantId"`
	ExtraPartitionInformation Partition         `json:"ExtraPartitionInformation"`
	EventType                 NotificationEvent `json:"EventType"`
	// Timestamp counts 100 ns since the year 1, UTC; see Time.
	Timestamp int64 `json:"Timestamp"`
	// JSONData is a JSON document as text: NotificationData.
	JSONData       string `json:"JsonData"`
	UserIdentifier string `json:"UserIdentifier"`
}

// NotificationEvent is the name of an event, in parts and as a whole.
type NotificationEvent struct {
	AppName      string `json:"AppName"`
	Domain       string `json:"Domain"`
	Resource     string `json:"Resource"`
	EventType    string `json:"EventType"`
	SemanticName string `json:"SemanticName"`
}

// Partition is where the record is. It is empty in an Acknowledge.
type Partition struct {
	PartitionClientID string `json:"PartitionClientId"`
	UserName          string `json:"UserName"`
}

// NotificationData is the document in JSONData of a change.
type NotificationData struct {
	CorrelationID string `json:"CorrelationId"`
	// Version is `MM/dd/yyyy HH:mm:ss`, UTC.
	Version            string `json:"Version"`
	SequenceVersion    int64  `json:"SequenceVersion,string"`
	SvcSourceInterface string `json:"SvcSourceInterface"`
	SvcProcessID       string `json:"SvcProcessId"`
	SvcSourceAction    string `json:"SvcSourceAction"`
}

// InvoicingNotification is the body that a receiver of invoicing gets.
type InvoicingNotification struct {
	Entity   string            `json:"Entity"`
	EntityID string            `json:"EntityId"`
	TenantID string            `json:"TenantId"`
	User     string            `json:"User"`
	Changes  []InvoicingChange `json:"Changes"`
}

// InvoicingChange is a member that changed, with its new value as text.
type InvoicingChange struct {
	Name  string `json:"Name"`
	Value string `json:"Value"`
}

// Event is a change of a record: either of the accounting family or of invoicing.
type Event struct {
	// OutgoingID is the id of the event, the same in every attempt and replay.
	OutgoingID string
	// Accounting is nil for invoicing.
	Accounting *AccountingEvent
	// Invoicing is nil for the accounting family.
	Invoicing *InvoicingNotification
}

// AccountingEvent is a change in the accounting family. It does not contain the record: read it by its CorrelationID in
// the context of its company (PartitionClientID).
type AccountingEvent struct {
	Notification
	NotificationData
}

// Time is when the change was made.
func (e *AccountingEvent) Time() time.Time {
	// Ticks at 1970-01-01.
	const unixEpoch = 621_355_968_000_000_000
	ticks := e.Timestamp - unixEpoch
	return time.Unix(ticks/1e7, ticks%1e7*100).UTC()
}

// TenantID is the tenant that owns the record.
func (e *Event) TenantID() string {
	if e.Accounting != nil {
		return e.Accounting.TenantID
	}
	return e.Invoicing.TenantID
}

// RecordID is the id of the record that changed.
func (e *Event) RecordID() string {
	if e.Accounting != nil {
		return e.Accounting.CorrelationID
	}
	return e.Invoicing.EntityID
}

// IsTest says whether it is a test event, which the owner of the webhook asked for. It belongs to no record.
func (e *Event) IsTest() bool {
	if e.Accounting != nil {
		return e.Accounting.SequenceVersion == 0
	}
	return e.Invoicing.EntityID == "00000000-0000-0000-0000-000000000000"
}

// Parse parses a body. Verify its signature first: Parse does not. The event is nil for an Acknowledge, the handshake
// of the accounting family, which is answered with 200.
func Parse(header http.Header, body []byte) (*Event, error) {
	var kind struct {
		Entity    *string
		EventType *NotificationEvent
	}
	if err := json.Unmarshal(body, &kind); err != nil {
		return nil, fmt.Errorf("the body is not a notification: %w", err)
	}
	switch {
	case kind.EventType != nil && kind.EventType.EventType == "Acknowledge":
		return nil, nil
	case kind.EventType != nil:
		return parseAccounting(body)
	case kind.Entity != nil:
		event := &Event{OutgoingID: header.Get("webhook-id"), Invoicing: &InvoicingNotification{}}
		if err := json.Unmarshal(body, event.Invoicing); err != nil {
			return nil, fmt.Errorf("the body is not a notification: %w", err)
		}
		return event, nil
	}
	return nil, fmt.Errorf("the body is not a notification: it has neither EventType nor Entity")
}

func parseAccounting(body []byte) (*Event, error) {
	event := &AccountingEvent{}
	if err := json.Unmarshal(body, &event.Notification); err != nil {
		return nil, fmt.Errorf("the body is not a notification: %w", err)
	}
	if err := json.Unmarshal([]byte(event.JSONData), &event.NotificationData); err != nil {
		return nil, fmt.Errorf("the body is not a notification: JsonData: %w", err)
	}
	if event.OutgoingID == "" || event.CorrelationID == "" {
		return nil, fmt.Errorf("the body is not a notification: it has no OutgoingId or no CorrelationId")
	}
	return &Event{OutgoingID: event.OutgoingID, Accounting: event}, nil
}

// resourceOf turns `Svc.ACC.Customers.CustomerCreated` into `ACC.Customers`, and `Bank.Created` into `Bank`.
func resourceOf(semanticName string) string {
	parts := strings.Split(semanticName, ".")
	switch len(parts) {
	case 4:
		return parts[1] + "." + parts[2]
	case 2:
		return parts[0]
	}
	return semanticName
}
