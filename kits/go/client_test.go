package aldaba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

type renewableToken struct{ replaced int }

func (*renewableToken) AccessToken(context.Context) (Secret, error) { return "old", nil }

func (t *renewableToken) ReplaceToken(_ context.Context, refused Secret) (Secret, error) {
	t.replaced++
	return refused + "-renewed", nil
}

func serve(t *testing.T, handler http.HandlerFunc) (*Client, *renewableToken) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	tokens := &renewableToken{}
	client, err := New(server.URL+"/", "k3y", tokens)
	if err != nil {
		t.Fatal(err)
	}
	return client, tokens
}

func page(writer http.ResponseWriter, pages int, ids ...string) {
	writer.Header().Set("X-Pagination", fmt.Sprintf(`{"totalCount":3,"pageSize":2,"currentPage":1,"totalPages":%d}`, pages))
	writer.Header().Set("X-Sequence-Version", "41")
	var records []string
	for _, id := range ids {
		records = append(records, fmt.Sprintf(`{"correlationId":%q,"version":"2026-11-15T08:30:00.1234567Z","sequenceVersion":"7","total":1.5}`, id))
	}
	_, _ = io.WriteString(writer, "["+strings.Join(records, ",")+"]")
}

func TestListReadsAllPages(t *testing.T) {
	client, _ := serve(t, func(writer http.ResponseWriter, request *http.Request) {
		query, header := request.URL.Query(), request.Header
		if query.Get("pageSize") != "2" || header.Get("Ocp-Apim-Subscription-Key") != "k3y" || header.Get("Authorization") != "Bearer old" ||
			header.Get("Context") != `{"clientId":"caf\u00e9 \ud83d\ude00"}` {
			t.Errorf("%v %v", query, header)
		}
		if query.Get("pageNumber") == "1" {
			page(writer, 2, "a", "b")
		} else {
			page(writer, 2, "c")
		}
	})
	list := client.Records(Journals, "café 😀").WithPageSize(2)
	records, err := list.All(context.Background())
	if err != nil || len(records) != 3 || records[2].CorrelationID != "c" || records[0].SequenceVersion != 7 {
		t.Fatalf("%v %v", records, err)
	}
	var own struct{ Total float64 }
	if err := records[1].As(&own); err != nil || own.Total != 1.5 {
		t.Fatalf("%v %v", own, err)
	}
	if _, err := list.WithPageSize(1001).Page(context.Background(), 1); err == nil {
		t.Fatal("a page size of 1001 is accepted")
	}
}

func TestBusyServiceIsAskedAgain(t *testing.T) {
	calls := 0
	client, _ := serve(t, func(writer http.ResponseWriter, _ *http.Request) {
		if calls++; calls < 3 {
			writer.Header().Set("Retry-After", "0")
			writer.WriteHeader(map[int]int{1: 429, 2: 503}[calls])
			return
		}
		page(writer, 1, "a")
	})
	if _, err := client.Companies().Page(context.Background(), 1); err != nil || calls != 3 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}

func TestLongRetryAfterIsAnError(t *testing.T) {
	calls := 0
	client, _ := serve(t, func(writer http.ResponseWriter, _ *http.Request) {
		calls++
		writer.Header().Set("Retry-After", "3600")
		writer.WriteHeader(429)
	})
	_, err := client.Companies().Page(context.Background(), 1)
	var refused *APIError
	if !errors.As(err, &refused) || refused.RetryAfter != time.Hour || calls != 1 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}

func TestOnlyIdempotentCallsAreRepeatedWithoutAResponse(t *testing.T) {
	var calls atomic.Int64
	client, tokens := serve(t, func(writer http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		connection, _, _ := writer.(http.Hijacker).Hijack()
		_ = connection.Close()
	})
	client, err := New(client.baseURL, "k3y", tokens, WithRetryPolicy(RetryPolicy{AttemptsMax: 2}),
		WithHTTPClient(&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}))
	if err != nil {
		t.Fatal(err)
	}
	var unreachable *UnreachableError
	if _, err := client.Companies().Page(context.Background(), 1); !errors.As(err, &unreachable) || calls.Load() != 2 {
		t.Fatalf("%v after %d calls", err, calls.Load())
	}
	if _, err := client.Webhooks(Customers).History("id").Test(context.Background()); err == nil || calls.Load() != 3 {
		t.Fatalf("%v after %d calls", err, calls.Load())
	}
}

func TestRefusedTokenIsRenewedOnce(t *testing.T) {
	client, tokens := serve(t, func(writer http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") == "Bearer old-renewed" {
			page(writer, 1, "a")
			return
		}
		writer.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		writer.WriteHeader(401)
	})
	if _, err := client.Companies().Page(context.Background(), 1); err != nil || tokens.replaced != 1 {
		t.Fatalf("%v after %d renewals", err, tokens.replaced)
	}
}

func TestWrongKeyDoesNotRenewTheToken(t *testing.T) {
	client, tokens := serve(t, func(writer http.ResponseWriter, _ *http.Request) {
		writer.WriteHeader(401)
		_, _ = io.WriteString(writer, `{"statusCode":401,"code":"denied","message":"Access denied","requestId":"r1","errors":[{"code":"invalid_key","message":"m"}]}`)
	})
	_, err := client.Companies().Page(context.Background(), 1)
	var refused *APIError
	if !errors.As(err, &refused) || refused.Code != "denied" || !refused.HasCode("denied") || !refused.HasCode("invalid_key") || refused.RequestID != "r1" || tokens.replaced != 0 {
		t.Fatalf("%v after %d renewals", err, tokens.replaced)
	}
	if strings.Contains(err.Error(), "k3y") || strings.Contains(fmt.Sprintf("%v %+v %#v", client, client, client), "k3y") {
		t.Fatal("prints the key")
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	client, _ := serve(t, func(writer http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/elsewhere" {
			t.Error("the credentials went elsewhere")
		}
		http.Redirect(writer, request, "/elsewhere", http.StatusFound)
	})
	if _, err := client.Companies().Page(context.Background(), 1); err == nil {
		t.Fatal("a redirect is accepted")
	}
}

func TestNotFound(t *testing.T) {
	client, _ := serve(t, func(writer http.ResponseWriter, request *http.Request) {
		if request.URL.EscapedPath() != "/accounting/api/customers/a%2Fb%20%C3%B1" {
			t.Errorf("path %s", request.URL.EscapedPath())
		}
		writer.WriteHeader(404)
	})
	if _, err := client.Customer(context.Background(), "c", "a/b ñ"); !errors.Is(err, ErrNotFound) {
		t.Fatalf("got %v", err)
	}
}

func change(number int) string {
	return fmt.Sprintf(`{"sequenceVersion":"%d","event":"Bank.Created","correlationId":"x","version":"2026-11-15T08:30:00.1234567Z","user":"u","processId":"p"}`, number)
}

func TestFeedResumesAfterTheLastChange(t *testing.T) {
	var asked []string
	client, _ := serve(t, func(writer http.ResponseWriter, request *http.Request) {
		after := request.URL.Query().Get("after")
		asked = append(asked, after)
		switch after {
		case "5":
			_, _ = io.WriteString(writer, "["+change(6)+","+change(8)+"]")
		case "6":
			_, _ = io.WriteString(writer, "["+change(8)+"]")
		default:
			_, _ = io.WriteString(writer, "[]")
		}
	})
	feed := client.InvoicingChanges(5)
	if !feed.Next(context.Background()) || feed.Position() != 6 {
		t.Fatalf("%v at %d", feed.Err(), feed.Position())
	}
	// The second change was fetched but not handed out, so it is not skipped.
	resumed := client.InvoicingChanges(feed.Position())
	if !resumed.Next(context.Background()) || resumed.Value().SequenceVersion != 8 || resumed.Next(context.Background()) || resumed.Err() != nil {
		t.Fatalf("%v at %d", resumed.Err(), resumed.Position())
	}
	if fmt.Sprint(asked) != "[5 6 8]" {
		t.Fatalf("asked %v", asked)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if resumed.Follow(time.Millisecond).Next(ctx) || !errors.Is(resumed.Err(), context.DeadlineExceeded) {
		t.Fatalf("got %v", resumed.Err())
	}
}

func TestFeedBelowTheFloor(t *testing.T) {
	client, _ := serve(t, func(writer http.ResponseWriter, _ *http.Request) {
		writer.WriteHeader(410)
		_ = json.NewEncoder(writer).Encode(map[string]string{"message": "The feed begins after 1200. List again."})
	})
	feed := client.Changes(Customers, "c", 3)
	var below *BelowFloorError
	if feed.Next(context.Background()) || !errors.As(feed.Err(), &below) || below.Floor != 1200 {
		t.Fatalf("got %v", feed.Err())
	}
}

func TestSnapshotIsReadAgainAfterADeletion(t *testing.T) {
	lists, feeds := 0, 0
	client, _ := serve(t, func(writer http.ResponseWriter, request *http.Request) {
		if !strings.HasSuffix(request.URL.Path, "/changes") {
			lists++
			page(writer, 1, "a")
			return
		}
		if feeds++; feeds == 1 {
			_, _ = io.WriteString(writer, "["+strings.Replace(change(42), "Bank.Created", "Svc.ACC.Journals.JournalDeleted", 1)+"]")
			return
		}
		_, _ = io.WriteString(writer, "[]")
	})
	snapshot, err := client.Records(Journals, "c").Snapshot(context.Background())
	if err != nil || snapshot.Position != 41 || lists != 2 {
		t.Fatalf("%v %v after %d lists", snapshot, err, lists)
	}
}

func TestNextQueryIgnoresTheHost(t *testing.T) {
	link := `<https://evil.example/x?cursor=1>; rel="prev", <https://evil.example/x?cursor=2&a=b>; rel="next"`
	if got := nextQuery(link); got != "cursor=2&a=b" {
		t.Fatalf("got %q", got)
	}
}

func TestFilterTextIsQuoted(t *testing.T) {
	if got := FilterText("O'Neill"); got != "'O''Neill'" {
		t.Fatalf("got %s", got)
	}
}
