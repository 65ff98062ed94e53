package aldaba_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"

	aldaba "aldaba.dev/kit"
	"aldaba.dev/kit/receiver"
	"aldaba.dev/kit/signin"
)

var (
	ctx     = context.Background()
	session *signin.Session
)

func ExampleClient() {
	client, err := aldaba.New("https://api.example.com", "subscription key", session)
	if err != nil {
		log.Fatal(err)
	}
	companies := client.Companies().Iterator()
	for companies.Next(ctx) {
		customers, err := client.Customers(companies.Value().CorrelationID).All(ctx)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s: %d customers\n", companies.Value().VATName, len(customers))
	}
	if err := companies.Err(); err != nil {
		log.Fatal(err)
	}
}

// Keeps a copy in sync: take a snapshot once, then follow the feed from its position.
func ExampleFeed() {
	var client *aldaba.Client
	snapshot, err := client.Customers("company").Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	changes := client.Changes(aldaba.Customers, "company", snapshot.Position)
	for changes.Next(ctx) {
		customer, err := client.Customer(ctx, "company", changes.Value().CorrelationID)
		if errors.Is(err, aldaba.ErrNotFound) {
			continue // gone since
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(customer.TradeName, changes.Position()) // store both together
	}
	var below *aldaba.BelowFloorError
	if errors.As(changes.Err(), &below) {
		fmt.Println("offline for too long: take a snapshot again")
	}
}

// Receives webhooks of both families, and processes each event once.
func ExampleClient_webhooks() {
	store, err := receiver.OpenFileStore("inbox.ndjson")
	if err != nil {
		log.Fatal(err)
	}
	inbox := receiver.NewInbox(store)
	handler := receiver.NewHandler(receiver.NewVerifier("the secret"), func(ctx context.Context, event receiver.Event) error {
		_, err := inbox.ProcessOnce(ctx, event.Received(), func(context.Context) error {
			fmt.Println(event.RecordID(), "changed")
			return nil
		})
		return err
	})
	go func() { log.Fatal(http.ListenAndServe("127.0.0.1:8443", handler)) }()

	var client *aldaba.Client
	webhooks := client.Webhooks(aldaba.Customers)
	id, err := webhooks.Subscribe(ctx, aldaba.Subscription{
		Application: "Panel", URL: "https://panel.example/hooks", Secret: "the secret", EventTypes: aldaba.Customers.EventTypes(),
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := webhooks.WaitUntilActive(ctx, id); err != nil {
		log.Fatal(err)
	}
}
