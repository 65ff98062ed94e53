package aldaba

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"aldaba.dev/kit/internal/httpcall"
)

const feedPageSizeDefault = 500

// Change is one change in the feed.
type Change struct {
	// SequenceVersion is the position of the change in the tenant's log. Store it with your work, and continue the feed
	// after it.
	SequenceVersion int64 `json:"sequenceVersion,string"`
	// Event is the semantic name: `Svc.ACC.Customers.CustomerCreated`, or `Bank.Created` for invoicing.
	Event         string    `json:"event"`
	CorrelationID string    `json:"correlationId"`
	Version       time.Time `json:"version"`
	User          string    `json:"user"`
	ProcessID     string    `json:"processId"`
}

// BelowFloorError means that the position lies before the start of the feed: the service no longer keeps the changes in
// between. Read the list again, and follow the feed from its position.
type BelowFloorError struct {
	// Floor is the position after which the feed begins.
	Floor int64
}

func (e *BelowFloorError) Error() string {
	return fmt.Sprintf("the feed begins after %d; earlier changes are no longer kept; read the list again and follow the feed from its position", e.Floor)
}

// Feed iterates over the changes after a position, in order:
//
//	changes := client.Changes(aldaba.Customers, company, position)
//	for changes.Next(ctx) {
//		change := changes.Value() // read the record; store it together with changes.Position()
//	}
//	var below *aldaba.BelowFloorError
//	if errors.As(changes.Err(), &below) {
//		// offline for too long: read the list again
//	}
//
// Once it has caught up, Next returns false and Err is nil; a later Next asks for newer changes.
type Feed struct {
	client   *Client
	path     string
	company  string
	position int64
	pageSize int
	pause    time.Duration
	buffer   []Change
	value    Change
	err      error
}

// Changes returns the changes of a company's records after a position. For companies themselves the company is ignored.
func (c *Client) Changes(resource Resource, company string, after int64) *Feed {
	return &Feed{
		client: c, path: resource.Path(), company: resource.contextCompany(company), position: after,
		pageSize: feedPageSizeDefault,
	}
}

// InvoicingChanges returns the changes of the tenant's invoicing entities after a position.
func (c *Client) InvoicingChanges(after int64) *Feed {
	return &Feed{client: c, path: invoicing, position: after, pageSize: feedPageSizeDefault}
}

// WithPageSize sets the number of changes per request: 1 to 1,000. The default is 500.
func (f *Feed) WithPageSize(changes int) *Feed {
	f.pageSize = changes
	return f
}

// Follow lets Next wait for new changes: once it has caught up, it asks again after each pause, until the context ends.
func (f *Feed) Follow(pause time.Duration) *Feed {
	f.pause = pause
	return f
}

// Next moves to the next change. It returns false when the feed has caught up, and on an error.
func (f *Feed) Next(ctx context.Context) bool {
	f.err = nil
	for len(f.buffer) == 0 {
		if f.buffer, f.err = f.nextPage(ctx); f.err != nil {
			return false
		}
		if len(f.buffer) > 0 {
			break
		}
		if f.pause <= 0 {
			return false
		}
		if f.err = httpcall.Sleep(ctx, f.pause); f.err != nil {
			return false
		}
	}
	f.value, f.buffer = f.buffer[0], f.buffer[1:]
	f.position = f.value.SequenceVersion
	return true
}

// Value is the change that Next moved to.
func (f *Feed) Value() Change { return f.value }

// Err is the error of the last Next, or nil.
func (f *Feed) Err() error { return f.err }

// Position is the position of the last change that Next moved to, or the start position.
func (f *Feed) Position() int64 { return f.position }

func (f *Feed) nextPage(ctx context.Context) ([]Change, error) {
	query := url.Values{"after": {strconv.FormatInt(f.position, 10)}, "pageSize": {strconv.Itoa(f.pageSize)}}
	var changes []Change
	err := f.client.typed(ctx, get(f.path+"/changes?"+query.Encode()).inCompany(f.company), &changes)
	return changes, belowFloor(err)
}

// belowFloor turns 410 into a BelowFloorError. The start of the feed is only in the text of the message.
func belowFloor(err error) error {
	var refused *APIError
	if !errors.As(err, &refused) || refused.Status != http.StatusGone {
		return err
	}
	_, number, _ := strings.Cut(refused.Message, "begins after ")
	end := 0
	for end < len(number) && number[end] >= '0' && number[end] <= '9' {
		end++
	}
	floor, _ := strconv.ParseInt(number[:end], 10, 64)
	return &BelowFloorError{Floor: floor}
}
