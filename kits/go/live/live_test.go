package live

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	aldaba "aldaba.dev/kit"
	"aldaba.dev/kit/receiver"
	"aldaba.dev/kit/signin"
)

const secret aldaba.Secret = "un secreto ñ"

func TestSignInRefreshAndSignOut(t *testing.T) {
	ready := readDev(t)
	provider, completed, _ := ready.signIn(t)
	person, _ := ready.person(t)
	if completed.Identity.Text("email") != person.Email || completed.Tokens.Sub != completed.Identity.Sub {
		t.Fatalf("%+v", completed.Identity)
	}
	// An expired access token is renewed, and the next refresh token is saved.
	expired := completed.Tokens
	expired.ExpiresAt = time.Now()
	store := signin.NewMemoryStore(expired)
	session := signin.NewSession(provider, store)
	client, err := aldaba.New(ready.BaseURL, ready.Subscription.PrimaryKey, session)
	check(t, err)
	_, err = client.Companies().Page(withPatience(t), 1)
	check(t, err)
	saved, _ := store.Load(withPatience(t))
	if saved.RefreshToken == expired.RefreshToken || saved.AccessToken == expired.AccessToken || saved.Sub != expired.Sub {
		t.Fatal("the tokens were not renewed")
	}
	// A token that the service refuses is renewed, too.
	spoiled := *saved
	spoiled.AccessToken = saved.AccessToken[:len(saved.AccessToken)-8] + "AAAAAAAA"
	check(t, store.Save(withPatience(t), spoiled))
	_, err = client.Companies().Page(withPatience(t), 1)
	check(t, err)
	address, err := provider.SignOutURL(withPatience(t), *saved, "")
	check(t, err)
	if !strings.HasPrefix(address, ready.AuthURL+"/auth/core/") {
		t.Fatal(address)
	}
	last, _ := store.Load(withPatience(t))
	check(t, session.SignOut(withPatience(t)))
	if _, err := client.Companies().Page(withPatience(t), 1); !errors.Is(err, aldaba.ErrSignInRequired) {
		t.Fatalf("got %v", err)
	}
	var refused *signin.OAuthError
	if _, err := provider.Refresh(withPatience(t), *last); !errors.As(err, &refused) || refused.Code != "invalid_grant" {
		t.Fatalf("a revoked token: %v", err)
	}
}

func TestForgedCallbackIsRefused(t *testing.T) {
	ready := readDev(t)
	provider := ready.provider(t)
	person, tenant := ready.person(t)
	address, pending := provider.Start(signin.Request{Scopes: signin.AccountingScopes(), LoginHint: person.Email, Language: "es"})
	callback := browse(t, address, person, tenant, ready.Client.RedirectURI)
	_, other := provider.Start(signin.Request{Scopes: signin.AccountingScopes()})
	if _, err := provider.Finish(withPatience(t), other, callback); !errors.Is(err, signin.ErrState) {
		t.Fatalf("got %v", err)
	}
	// The code of another sign-in does not go with this verifier.
	stolen := pending
	stolen.Verifier = other.Verifier
	var refused *signin.OAuthError
	if _, err := provider.Finish(withPatience(t), stolen, callback); !errors.As(err, &refused) || refused.Code != "invalid_grant" {
		t.Fatalf("got %v", err)
	}
}

func TestReads(t *testing.T) {
	f, ctx := newFixture(t), withPatience(t)
	company, err := f.Company(ctx, f.company)
	check(t, err)
	if company.VATName != "Panadería Ñandú" || company.AccountLength != 9 || company.State != aldaba.Enabled {
		t.Fatalf("%+v", company)
	}
	f.ingest(t, object{
		"area": "accounting", "resource": "accounts", "company": f.company, "action": "upsert", "correlationId": "account",
		"data": object{"code": "430000001", "description": "Clientes"},
	})
	var changes []object
	for number := 0; number < 7; number++ {
		changes = append(changes, f.customer(fmt.Sprintf("cliente/ñ %d", number), fmt.Sprintf("Cliente %d", number)))
	}
	f.ingest(t, changes...)
	customers := f.Customers(f.company).WithPageSize(3)
	all, err := customers.All(ctx)
	check(t, err)
	if len(all) != 7 || all[6].TradeName != "Cliente 6" || all[0].SequenceVersion >= all[6].SequenceVersion {
		t.Fatalf("%+v", all)
	}
	page, err := customers.Page(ctx, 3)
	check(t, err)
	if len(page.Items) != 1 || page.PagesTotal != 3 || page.RecordsTotal != 7 || page.Position < all[6].SequenceVersion {
		t.Fatalf("%+v", page)
	}
	if _, err := customers.PageIfChanged(ctx, 3, page.ETag); !errors.Is(err, aldaba.ErrNotModified) {
		t.Fatalf("got %v", err)
	}
	one, err := f.Customer(ctx, f.company, "cliente/ñ 4")
	check(t, err)
	account, err := f.Account(ctx, f.company, one.AccountCodeCorrelationID)
	check(t, err)
	if one.TradeName != "Cliente 4" || account.Description != "Clientes" {
		t.Fatalf("%+v %+v", one, account)
	}
	record, err := f.Record(ctx, aldaba.Customers, f.company, "cliente/ñ 4")
	check(t, err)
	var own struct{ TradeName string }
	check(t, record.As(&own))
	if own.TradeName != "Cliente 4" || record.State != aldaba.Enabled {
		t.Fatalf("%+v", own)
	}
	if _, err := f.Customer(ctx, f.company, "missing"); !errors.Is(err, aldaba.ErrNotFound) {
		t.Fatalf("got %v", err)
	}
	if _, err := f.Customers("another company").Page(ctx, 1); !errors.Is(err, aldaba.ErrNotFound) {
		t.Fatalf("got %v", err)
	}
}

func TestPayrollIsFilteredAndOrdered(t *testing.T) {
	f, ctx := newFixture(t), withPatience(t)
	all, err := f.PayrollCompanies(aldaba.PayrollQuery{OrderBy: "companyCode desc"}).All(ctx)
	check(t, err)
	if len(all) < 2 || all[0].CompanyCode < all[1].CompanyCode {
		t.Fatalf("%+v", all)
	}
	filter := "companyName eq " + aldaba.FilterText(all[1].CompanyName) + fmt.Sprintf(" and companyCode eq %d", all[1].CompanyCode)
	found, err := f.PayrollCompanies(aldaba.PayrollQuery{Filter: filter}).All(ctx)
	check(t, err)
	if len(found) != 1 || found[0] != all[1] {
		t.Fatalf("%+v", found)
	}
	var refused *aldaba.APIError
	if _, err := f.PayrollCompanies(aldaba.PayrollQuery{Filter: "nothing eq 1"}).All(ctx); !errors.As(err, &refused) || refused.Status != http.StatusBadRequest {
		t.Fatalf("got %v", err)
	}
}

func TestFeedFollowsTheSnapshot(t *testing.T) {
	f, ctx := newFixture(t), withPatience(t)
	f.ingest(t, f.customer("1", "Uno"))
	snapshot, err := f.Customers(f.company).Snapshot(ctx)
	check(t, err)
	f.ingest(t, f.customer("2", "Dos"), f.customer("1", "Uno bis"), f.customer("3", "Tres"))
	feed := f.Changes(aldaba.Customers, f.company, snapshot.Position).WithPageSize(2)
	var seen []string
	for feed.Next(ctx) && len(seen) < 2 {
		seen = append(seen, feed.Value().CorrelationID+" "+feed.Value().Event)
	}
	check(t, feed.Err())
	// Another process goes on where the last one stopped, and waits for what comes.
	resumed := f.Changes(aldaba.Customers, f.company, feed.Position()).Follow(20 * time.Millisecond)
	hasNext := make(chan bool)
	go func() { hasNext <- resumed.Next(ctx) }()
	f.ingest(t, f.customer("4", "Cuatro"))
	if !<-hasNext || resumed.Value().CorrelationID != "4" || resumed.Value().User != "maría" {
		t.Fatalf("%+v %v", resumed.Value(), resumed.Err())
	}
	if len(snapshot.Records) != 1 || fmt.Sprint(seen) != "[2 Svc.ACC.Customers.CustomerCreated 1 Svc.ACC.Customers.CustomerUpdated]" {
		t.Fatalf("%v %v", snapshot.Records, seen)
	}
}

// hooks is a receiver on loopback with an inbox in a file.
type hooks struct {
	*httptest.Server
	requests  chan int
	processed chan receiver.Event
}

func startReceiver(t *testing.T, secrets ...aldaba.Secret) *hooks {
	t.Helper()
	store, err := receiver.OpenFileStore(filepath.Join(t.TempDir(), "inbox"))
	check(t, err)
	inbox := receiver.NewInbox(store)
	made := &hooks{requests: make(chan int, 1000), processed: make(chan receiver.Event, 1000)}
	handler := receiver.NewHandler(receiver.NewVerifier(secrets...), func(ctx context.Context, event receiver.Event) error {
		_, err := inbox.ProcessOnce(ctx, event.Received(), func(context.Context) error {
			made.processed <- event
			return nil
		})
		return err
	})
	handler.OnRefused = func(_ *http.Request, reason error) { t.Errorf("refused: %v", reason) }
	made.Server = httptest.NewServer(http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		handler.ServeHTTP(writer, request)
		made.requests <- 1
	}))
	t.Cleanup(func() {
		made.Close()
		check(t, store.Close())
	})
	return made
}

func (h *hooks) next(t *testing.T) receiver.Event {
	t.Helper()
	select {
	case event := <-h.processed:
		return event
	case <-time.After(patience):
		t.Fatal("no event came")
		return receiver.Event{}
	}
}

func TestAccountingWebhook(t *testing.T) {
	f, ctx, hooks := newFixture(t), withPatience(t), startReceiver(t, secret, "the next secret")
	webhooks := f.Webhooks(aldaba.Customers)
	names, err := webhooks.Events(ctx)
	check(t, err)
	if fmt.Sprint(names) != fmt.Sprint(aldaba.Customers.EventTypes()) {
		t.Fatalf("%v", names)
	}
	subscription := aldaba.Subscription{Application: "Go", URL: hooks.URL + "/hooks", Secret: secret, EventTypes: names}
	id, err := webhooks.Subscribe(ctx, subscription)
	check(t, err)
	defer func() { check(t, webhooks.Delete(withPatience(t), id)) }()
	check(t, webhooks.WaitUntilActive(ctx, id))
	if again, err := webhooks.Subscribe(ctx, subscription); err != nil || again != id {
		t.Fatalf("%s %v", again, err)
	}
	f.ingest(t, f.customer("ñ 1", "Uno"))
	event := f.nextOfCompany(t, hooks)
	if event.Accounting.CorrelationID != "ñ 1" || event.Accounting.EventType.SemanticName != names[0] || event.Accounting.WebhookID != id ||
		time.Since(event.Accounting.Time()) > time.Minute || event.TenantID() != f.tenant || event.IsTest() {
		t.Fatalf("%+v", event.Accounting)
	}
	customer, err := f.Customer(ctx, event.Accounting.ExtraPartitionInformation.PartitionClientID, event.RecordID())
	check(t, err)
	if customer.SequenceVersion != event.Accounting.SequenceVersion {
		t.Fatalf("%+v", customer)
	}
	f.replayIsProcessedOnce(t, webhooks.History(id), hooks, event)
	f.manage(t, webhooks, id, hooks)
	if ended, err := webhooks.Unsubscribe(ctx, aldaba.Subscription{Application: "Go", URL: hooks.URL + "/moved", Secret: "the next secret", EventTypes: names}); err != nil || ended != id {
		t.Fatalf("%s %v", ended, err)
	}
}

// nextOfCompany skips the events of other companies, which the tests of other kits may change.
func (f *fixture) nextOfCompany(t *testing.T, hooks *hooks) receiver.Event {
	t.Helper()
	for {
		event := hooks.next(t)
		if event.Accounting != nil && event.Accounting.ExtraPartitionInformation.PartitionClientID == f.company {
			return event
		}
	}
}

func (f *fixture) replayIsProcessedOnce(t *testing.T, history *aldaba.History, hooks *hooks, event receiver.Event) {
	t.Helper()
	ctx := withPatience(t)
	for len(hooks.requests) > 0 {
		<-hooks.requests
	}
	replay, err := history.ReplayOne(ctx, event.OutgoingID)
	check(t, err)
	select {
	case <-hooks.requests:
	case <-ctx.Done():
		t.Fatal("the replay did not come")
	}
	for done := false; !done; {
		health, err := history.Health(ctx)
		check(t, err)
		for _, one := range health.Replays {
			done = done || (one.Number == replay.Number && one.IsDone)
		}
	}
	delivery, err := history.Delivery(ctx, event.OutgoingID)
	check(t, err)
	if delivery.Status != "delivered" || delivery.Body == nil || !strings.Contains(*delivery.Body, event.OutgoingID) {
		t.Fatalf("%+v", delivery)
	}
	// The next event shows that the replay was not processed again.
	f.ingest(t, f.customer("2", "Dos"))
	if next := f.nextOfCompany(t, hooks); next.RecordID() != "2" {
		t.Fatalf("processed twice: %+v", next)
	}
	found := false
	for deliveries := history.Deliveries(aldaba.DeliveryQuery{Status: "delivered", Since: time.Now().Add(-time.Hour)}); deliveries.Next(ctx); {
		found = found || *deliveries.Value().OutgoingID == event.OutgoingID
	}
	if !found {
		t.Fatal("the delivery is not in the history")
	}
}

func (f *fixture) manage(t *testing.T, webhooks *aldaba.Webhooks, id string, hooks *hooks) {
	t.Helper()
	ctx := withPatience(t)
	check(t, webhooks.SetEnabled(ctx, id, false))
	if webhook, err := webhooks.Get(ctx, id); err != nil || webhook.IsActive {
		t.Fatalf("%+v %v", webhook, err)
	}
	check(t, webhooks.SetEnabled(ctx, id, true))
	rotated, err := webhooks.RotateSecret(ctx, id, "the next secret", 1)
	check(t, err)
	if rotated.OldSecretUntil == nil || rotated.OldSecretUntil.Before(time.Now()) {
		t.Fatalf("%+v", rotated)
	}
	check(t, webhooks.ChangeURL(ctx, id, hooks.URL+"/moved"))
	check(t, webhooks.WaitUntilActive(ctx, id))
	_, err = webhooks.History(id).Test(ctx)
	check(t, err)
	for event := hooks.next(t); !event.IsTest(); event = hooks.next(t) {
	}
	all, err := webhooks.List(ctx)
	check(t, err)
	for _, webhook := range all {
		if webhook.ID == id && webhook.URL == hooks.URL+"/moved" && webhook.Secret == "the next secret" && len(webhook.Events) == 4 {
			return
		}
	}
	t.Fatalf("%+v", all)
}

func TestInvoicingWebhook(t *testing.T) {
	f, ctx, hooks := newFixture(t), withPatience(t), startReceiver(t, secret)
	webhooks := f.InvoicingWebhooks()
	webhook, err := webhooks.Subscribe(ctx, aldaba.InvoicingSubscription{
		URI: hooks.URL + "/api/webhooks/incoming/Invoicing", Entity: "Bank", Action: aldaba.Created, Secret: secret, ApplicationName: "Go",
	})
	check(t, err)
	check(t, webhooks.WaitUntilEffective(ctx, webhook.ID))
	position := f.position(t)
	id := unique("banco")
	f.ingest(t, object{"area": "invoicing", "resource": "Bank", "action": "upsert", "correlationId": id, "user": "maría", "data": object{"name": "Caja"}})
	event := hooks.next(t)
	for event.RecordID() != id {
		event = hooks.next(t)
	}
	bank := event.Invoicing
	if bank.Entity != "Bank" || bank.User != "maría" || len(bank.Changes) != 1 || bank.Changes[0].Value != "Caja" || event.OutgoingID == "" {
		t.Fatalf("%+v", event)
	}
	isInFeed := false
	for feed := f.InvoicingChanges(position); feed.Next(ctx); {
		isInFeed = isInFeed || (feed.Value().CorrelationID == id && feed.Value().Event == "Bank.Created")
	}
	paused, err := webhooks.SetPaused(ctx, webhook.ID, true)
	check(t, err)
	resumed, err := webhooks.SetPaused(ctx, webhook.ID, false)
	check(t, err)
	health, err := webhooks.History(webhook.ID).Health(ctx)
	check(t, err)
	all, err := webhooks.List(ctx)
	check(t, err)
	deleted, err := webhooks.Delete(ctx, webhook.ID)
	check(t, err)
	if !isInFeed || !paused.IsPaused || resumed.IsPaused || !health.Handshake.IsAccepted || len(all) == 0 || deleted.Status != "Deleted" {
		t.Fatalf("%v %+v %+v %+v %+v %+v", isInFeed, paused, resumed, health, all, deleted)
	}
	if _, err := webhooks.Get(ctx, webhook.ID); !errors.Is(err, aldaba.ErrNotFound) {
		t.Fatalf("got %v", err)
	}
}

func (f *fixture) position(t *testing.T) int64 {
	t.Helper()
	page, err := f.Companies().Page(withPatience(t), 1)
	check(t, err)
	return page.Position
}
