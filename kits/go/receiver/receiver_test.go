package receiver

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	aldaba "aldaba.dev/kit"
)

const secret aldaba.Secret = "un secreto ñ"

const accountingBody = `{"WebhookId":"3f0c8a52-6d1e-4b7a-9c45-2e8f1a7b6d03","OutgoingId":"b6d1f5a0-93c7-8e24-a1f8-0c5d7e2b4963",` +
	`"ConversationId":"4be1f7c2-0a58-4f53-8e52-97d1a3c60b14","TenantId":"t","ExtraPartitionInformation":{"PartitionClientId":"c","UserName":"maría"},` +
	`"EventType":{"AppName":"Svc","Domain":"ACC","Resource":"Customers","EventType":"CustomerCreated","SemanticName":"Svc.ACC.Customers.CustomerCreated"},` +
	`"Timestamp":639000000000000000,"JsonData":"{\"CorrelationId\":\"ñ 1\",\"Version\":\"11/15/2026 08:30:00\",\"SequenceVersion\":\"1192\",\"SvcSourceInterface\":\"ERP\",\"SvcProcessId\":\"p\",\"SvcSourceAction\":\"Save\"}","UserIdentifier":"u"}`

const invoicingBody = `{"Entity":"Bank","EntityId":"7","TenantId":"t","User":"eva","Changes":[{"Name":"name","Value":"Caja"}]}`

const acknowledgeBody = `{"WebhookId":"w","OutgoingId":"o","ConversationId":"c","TenantId":"t","ExtraPartitionInformation":{},` +
	`"EventType":{"AppName":"Svc","Domain":"ACC","Resource":"Customers","EventType":"Acknowledge","SemanticName":"Svc.ACC.Customers.Acknowledge"},` +
	`"Timestamp":1,"JsonData":"{\"Arguments\":\"Acknowledge\"}","UserIdentifier":"u"}`

func headers(pairs ...string) http.Header {
	header := http.Header{}
	for index := 0; index < len(pairs); index += 2 {
		header.Set(pairs[index], pairs[index+1])
	}
	return header
}

func TestSignatureOfRFC4231(t *testing.T) {
	want := "sha256=5BDCC146BF60754E6A042426089575C75A003F089D2739839DEC58B964EC3843"
	if got := Sign("Jefe", []byte("what do ya want for nothing?")); got != want {
		t.Fatalf("got %s", got)
	}
}

func TestSignaturesOfAllSchemes(t *testing.T) {
	body, now := []byte(invoicingBody), strconv.FormatInt(time.Now().Unix(), 10)
	old := strconv.FormatInt(time.Now().Add(-6*time.Minute).Unix(), 10)
	standard := func(secret aldaba.Secret, at string) http.Header {
		return headers("webhook-id", "id", "webhook-timestamp", at, "webhook-signature", SignStandard(secret, "id", at, body))
	}
	right := Sign(secret, body)
	both := standard(secret, now)
	both.Set("webhook-signature", SignStandard("new", "id", now, body)+" "+both.Get("webhook-signature"))
	otherID := standard(secret, now)
	otherID.Set("webhook-id", "other")
	for name, test := range map[string]struct {
		header http.Header
		want   error
	}{
		"accounting":             {headers("svc-webhook-signature", right), nil},
		"invoicing":              {headers("ms-signature", right), nil},
		"standard":               {standard(secret, now), nil},
		"two standard ones":      {both, nil},
		"lower case":             {headers("ms-signature", strings.ToLower(right)), ErrSignature},
		"another secret":         {headers("ms-signature", Sign("other", body)), ErrSignature},
		"cut off":                {headers("ms-signature", right[:20]), ErrSignature},
		"none":                   {headers(), ErrNoSignature},
		"an old standard one":    {standard(secret, old), ErrTimestamp},
		"no standard timestamp":  {standard(secret, ""), ErrTimestamp},
		"another standard id":    {otherID, ErrSignature},
		"standard, other secret": {standard("other", now), ErrSignature},
	} {
		if _, err := NewVerifier(secret).Verify(test.header, body); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v", name, err)
		}
		if _, err := NewVerifier(secret).Verify(test.header, append([]byte(" "), body...)); err == nil {
			t.Errorf("%s: a changed body is accepted", name)
		}
	}
	if _, err := NewVerifier("").Verify(headers("ms-signature", Sign("", body)), body); err == nil {
		t.Error("an empty secret is accepted")
	}
	only := &Verifier{Secrets: []aldaba.Secret{secret}, OnlyStandard: true}
	if _, err := only.Verify(headers("ms-signature", right), body); !errors.Is(err, ErrNoSignature) {
		t.Errorf("only standard: got %v", err)
	}
	// The key of Standard Webhooks is the base64 after whsec_; the contract's key is the whole text.
	if SignStandard("whsec_QUJD", "id", now, body) != SignStandard("ABC", "id", now, body) || Sign("whsec_QUJD", body) == Sign("ABC", body) {
		t.Error("whsec_ is read wrongly")
	}
}

func post(t *testing.T, handler http.Handler, header http.Header, body string) *http.Response {
	t.Helper()
	request := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body))
	request.Header = header
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, request)
	return recorder.Result()
}

func TestHandlerAnswers(t *testing.T) {
	var events []Event
	var fail error
	handler := NewHandler(NewVerifier(secret), func(_ context.Context, event Event) error {
		events = append(events, event)
		return fail
	})
	sign := func(body string) http.Header {
		return headers("svc-webhook-signature", Sign(secret, []byte(body)), "webhook-id", "from the header")
	}
	if got := post(t, handler, sign(acknowledgeBody), acknowledgeBody); got.StatusCode != 200 || len(events) != 0 {
		t.Fatalf("the Acknowledge: %d", got.StatusCode)
	}
	if got := post(t, handler, headers("svc-webhook-signature", "sha256=00"), acknowledgeBody); got.StatusCode != 401 {
		t.Fatalf("a forged Acknowledge: %d", got.StatusCode)
	}
	if got := post(t, handler, sign(accountingBody), strings.Replace(accountingBody, "1192", "1193", 1)); got.StatusCode != 401 {
		t.Fatalf("a changed body: %d", got.StatusCode)
	}
	for _, body := range []string{accountingBody, invoicingBody} {
		if got := post(t, handler, sign(body), body); got.StatusCode != 200 || got.Header.Get("Set-Cookie") != "" {
			t.Fatalf("an event: %d", got.StatusCode)
		}
	}
	for _, body := range []string{`{}`, `[`, `{"EventType":{},"JsonData":"{}"}`} {
		if got := post(t, handler, sign(body), body); got.StatusCode != 400 {
			t.Fatalf("%s: %d", body, got.StatusCode)
		}
	}
	large := strings.Repeat("x", BodyBytesMax+1)
	if got := post(t, handler, sign(large), large); got.StatusCode != 413 {
		t.Fatalf("a large body: %d", got.StatusCode)
	}
	change, bank := events[0].Accounting, events[1].Invoicing
	if len(events) != 2 || change.CorrelationID != "ñ 1" || change.SequenceVersion != 1192 || change.ExtraPartitionInformation.UserName != "maría" {
		t.Fatalf("%+v", events)
	}
	if got := change.Time().Format(time.RFC3339); got != "2025-11-29T08:00:00Z" {
		t.Fatalf("ticks are %s", got)
	}
	if events[1].OutgoingID != "from the header" || bank.Changes[0] != (InvoicingChange{"name", "Caja"}) {
		t.Fatalf("%+v", bank)
	}
	fail = errors.New("the database is gone")
	if got := post(t, handler, sign(accountingBody), accountingBody); got.StatusCode != 500 {
		t.Fatalf("a failed event: %d", got.StatusCode)
	}
}

func TestEchoReturnsOnlyGUIDs(t *testing.T) {
	handler := NewHandler(NewVerifier(secret), nil)
	for query, want := range map[string]int{
		"echo=4be1f7c2-0a58-4f53-8e52-97d1a3c60b14": 200, "echo=%3Cscript%3E": 400, "": 400,
	} {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/hooks?"+query, nil))
		body, _ := io.ReadAll(recorder.Body)
		if recorder.Code != want || (want == 200 && string(body) != query[5:]) || bytes.Contains(body, []byte("script")) {
			t.Errorf("%s: %d %s", query, recorder.Code, body)
		}
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodPut, "/hooks", nil))
	if recorder.Code != 405 {
		t.Errorf("PUT: %d", recorder.Code)
	}
}

func event(id string, number int64) Received {
	record := RecordKey{Tenant: "t", Resource: "ACC.Customers", Company: "c", ID: "1"}
	return Received{OutgoingID: id, Record: record, SequenceVersion: number}
}

func checkInbox(t *testing.T, inbox *Inbox, steps []Received, want []Outcome) {
	t.Helper()
	for index, received := range steps {
		isRun := false
		outcome, err := inbox.ProcessOnce(context.Background(), received, func(context.Context) error {
			isRun = true
			return nil
		})
		if err != nil || outcome != want[index] || isRun != (outcome == Processed) {
			t.Errorf("step %d: %v %v", index, outcome, err)
		}
	}
}

func TestInboxProcessesEachEventOnce(t *testing.T) {
	steps := []Received{event("a", 7), event("a", 7), event("b", 5), event("", 7), event("", 8), {OutgoingID: "i"}, {OutgoingID: "i"}}
	checkInbox(t, NewInbox(NewMemoryStore()), steps, []Outcome{Processed, Duplicate, Superseded, Superseded, Processed, Processed, Duplicate})
	byID := NewInbox(NewMemoryStore())
	byID.ByIDOnly = true
	checkInbox(t, byID, steps[:3], []Outcome{Processed, Duplicate, Processed})
}

func TestFailedEventRunsAgain(t *testing.T) {
	inbox, failure := NewInbox(NewMemoryStore()), errors.New("no")
	outcome, err := inbox.ProcessOnce(context.Background(), event("a", 7), func(context.Context) error { return failure })
	if outcome != Failed || !errors.Is(err, failure) {
		t.Fatalf("%v %v", outcome, err)
	}
	checkInbox(t, inbox, []Received{event("a", 7)}, []Outcome{Processed})
}

func TestSimultaneousAttemptsRunOnce(t *testing.T) {
	inbox, runs := NewInbox(NewMemoryStore()), atomic.Int64{}
	var group sync.WaitGroup
	for attempt := 0; attempt < 20; attempt++ {
		group.Add(1)
		go func() {
			defer group.Done()
			_, _ = inbox.ProcessOnce(context.Background(), event("a", 7), func(context.Context) error {
				runs.Add(1)
				return nil
			})
		}()
	}
	group.Wait()
	if runs.Load() != 1 {
		t.Fatalf("ran %d times", runs.Load())
	}
}

func TestFileStoreSurvivesARestartAndACutOffLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "inbox")
	open := func() *FileStore {
		store, err := OpenFileStore(path)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	store := open()
	checkInbox(t, NewInbox(store), []Received{event("a", 7)}, []Outcome{Processed})
	_ = store.Close()
	file, _ := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	_, _ = file.WriteString(`{"outgoingId":"b","reco`)
	_ = file.Close()
	store = open()
	checkInbox(t, NewInbox(store), []Received{event("a", 7), event("b", 8), event("c", 6)}, []Outcome{Duplicate, Processed, Superseded})
	_ = store.Close()
	store = open()
	checkInbox(t, NewInbox(store), []Received{event("b", 8), event("d", 9)}, []Outcome{Duplicate, Processed})
	if err := store.compact(path); err != nil {
		t.Fatal(err)
	}
	_ = store.Close()
	store = open()
	defer store.Close()
	checkInbox(t, NewInbox(store), []Received{event("a", 7), event("d", 9), event("", 9)}, []Outcome{Duplicate, Duplicate, Superseded})
}

func TestFeedAndDeliveryAreTheSameEvent(t *testing.T) {
	parsed, err := Parse(http.Header{}, []byte(accountingBody))
	if err != nil {
		t.Fatal(err)
	}
	change := aldaba.Change{Event: "Svc.ACC.Customers.CustomerCreated", CorrelationID: "ñ 1", SequenceVersion: 1192}
	fromFeed, delivered := FromFeed(change, "t", "c"), parsed.Received()
	if fromFeed.Record != delivered.Record || fromFeed.SequenceVersion != delivered.SequenceVersion {
		t.Fatalf("%+v is not %+v", fromFeed, delivered)
	}
}
