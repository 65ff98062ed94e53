// Package aldaba calls the APIs of Aldaba: typed reads with paging, the change feed, and the management of webhooks.
// Package signin signs users in and renews their tokens; package receiver receives webhooks.
//
//	client, err := aldaba.New("https://api.example.com", "subscription key", session)
//	companies := client.Companies().Iterator()
//	for companies.Next(ctx) {
//		fmt.Println(companies.Value().VATName)
//	}
//	if err := companies.Err(); err != nil {
//		return err
//	}
//
// The package uses only the standard library. Responses 429 and 503 are retried after Retry-After, idempotent calls
// also without a response; a refused access token is renewed once.
package aldaba
