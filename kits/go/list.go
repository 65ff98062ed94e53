package aldaba

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"aldaba.dev/kit/internal/httpcall"
)

const (
	pageSizeDefault    = 100
	pageSizeMax        = 1000
	snapshotTriesMax   = 5
	snapshotRecordsMax = 1_000_000
)

// ErrNotModified means that a page still has the etag that was given.
var ErrNotModified = errors.New("the page has not changed")

// List is a list of records. It sends requests only when pages are read, and is safe for concurrent use.
type List[T any] struct {
	client   *Client
	resource Resource
	company  string
	pageSize int
	query    url.Values
}

func newList[T any](c *Client, resource Resource, company string) *List[T] {
	return &List[T]{client: c, resource: resource, company: resource.contextCompany(company), pageSize: pageSizeDefault}
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	// Number counts from 1.
	Number       int
	PagesTotal   int
	RecordsTotal int64
	// Position is the position of the tenant's log when the page was read: follow the feed from there.
	Position int64
	// ETag is for PageIfChanged.
	ETag string
}

// Snapshot is all records of a list, and the position from which the feed has the later changes.
type Snapshot[T any] struct {
	Records  []T
	Position int64
}

// WithPageSize returns the list with another number of records per page: 1 to 1,000. The default is 100.
func (l *List[T]) WithPageSize(records int) *List[T] {
	sized := *l
	sized.pageSize = records
	return &sized
}

// Page reads one page, counted from 1. A page after the last is empty.
func (l *List[T]) Page(ctx context.Context, number int) (*Page[T], error) {
	return l.page(ctx, number, "")
}

// PageIfChanged reads one page; the error is ErrNotModified if it still has this etag.
func (l *List[T]) PageIfChanged(ctx context.Context, number int, etag string) (*Page[T], error) {
	return l.page(ctx, number, etag)
}

func (l *List[T]) page(ctx context.Context, number int, etag string) (*Page[T], error) {
	if l.pageSize < 1 || l.pageSize > pageSizeMax {
		return nil, fmt.Errorf("the page size must be from 1 to %d", pageSizeMax)
	}
	query := url.Values{"pageNumber": {strconv.Itoa(number)}, "pageSize": {strconv.Itoa(l.pageSize)}}
	for name, values := range l.query {
		query[name] = values
	}
	call := get(l.resource.Path() + "?" + query.Encode()).inCompany(l.company)
	call.etag = etag
	response, err := l.client.send(ctx, call)
	if err != nil {
		return nil, err
	}
	if response.Status == http.StatusNotModified {
		return nil, ErrNotModified
	}
	page := &Page[T]{Number: number, ETag: response.Header.Get("ETag")}
	if err := httpcall.ParseBody(call.name(), response.Body, &page.Items); err != nil {
		return nil, err
	}
	var totals struct {
		TotalCount int64 `json:"totalCount"`
		TotalPages int   `json:"totalPages"`
	}
	if err := json.Unmarshal([]byte(response.Header.Get("X-Pagination")), &totals); err != nil {
		return nil, fmt.Errorf("%s: invalid response (X-Pagination is missing); check that the URL is that of the service", call.name())
	}
	page.RecordsTotal, page.PagesTotal = totals.TotalCount, totals.TotalPages
	page.Position, _ = strconv.ParseInt(response.Header.Get("X-Sequence-Version"), 10, 64)
	return page, nil
}

// Iterator returns all records, one after the other; pages are read as needed.
//
// The order is that of creation, so records created meanwhile come at the end. If records are deleted meanwhile, the
// iterator may skip one; Snapshot does not.
func (l *List[T]) Iterator() *Iterator[T] {
	next := 1
	return &Iterator[T]{fetch: func(ctx context.Context) ([]T, bool, error) {
		page, err := l.Page(ctx, next)
		if err != nil {
			return nil, false, err
		}
		next++
		return page.Items, page.Number < page.PagesTotal && len(page.Items) > 0, nil
	}}
}

// All reads all records.
func (l *List[T]) All(ctx context.Context) ([]T, error) { return l.Iterator().all(ctx) }

// Snapshot reads all records, with the position from which the feed continues without a gap. If records were deleted
// meanwhile, it reads the list again.
func (l *List[T]) Snapshot(ctx context.Context) (*Snapshot[T], error) {
	for try := 0; try < snapshotTriesMax; try++ {
		snapshot, err := l.readAll(ctx)
		if err != nil || !l.resource.isDeletable {
			return snapshot, err
		}
		wasDeleted, err := l.wasDeletedSince(ctx, snapshot.Position)
		if err != nil || !wasDeleted {
			return snapshot, err
		}
	}
	return nil, fmt.Errorf("records were deleted while the list was read, %d times; try again later or with larger pages", snapshotTriesMax)
}

func (l *List[T]) readAll(ctx context.Context) (*Snapshot[T], error) {
	snapshot := &Snapshot[T]{}
	for number, pages := 1, 1; number <= pages; number++ {
		page, err := l.Page(ctx, number)
		if err != nil {
			return nil, err
		}
		// Later pages may contain newer changes, which the feed then repeats. That is harmless.
		if number == 1 {
			snapshot.Position = page.Position
		}
		pages = page.PagesTotal
		snapshot.Records = append(snapshot.Records, page.Items...)
		if len(snapshot.Records) > snapshotRecordsMax {
			return nil, fmt.Errorf("there are more than %d records; use the iterator", snapshotRecordsMax)
		}
	}
	return snapshot, nil
}

func (l *List[T]) wasDeletedSince(ctx context.Context, position int64) (bool, error) {
	changes := l.client.Changes(l.resource, l.company, position)
	wasDeleted := false
	for changes.Next(ctx) {
		wasDeleted = wasDeleted || strings.HasSuffix(changes.Value().Event, "Deleted")
	}
	return wasDeleted, changes.Err()
}

// Iterator reads values page by page:
//
//	for iterator.Next(ctx) {
//		use(iterator.Value())
//	}
//	return iterator.Err()
type Iterator[T any] struct {
	fetch  func(context.Context) ([]T, bool, error)
	buffer []T
	isDone bool
	value  T
	err    error
}

// Next moves to the next value. It returns false at the end and on an error.
func (i *Iterator[T]) Next(ctx context.Context) bool {
	for len(i.buffer) == 0 {
		if i.isDone || i.err != nil {
			return false
		}
		var hasMore bool
		i.buffer, hasMore, i.err = i.fetch(ctx)
		i.isDone = !hasMore
	}
	i.value, i.buffer = i.buffer[0], i.buffer[1:]
	return true
}

// Value is the value that Next moved to.
func (i *Iterator[T]) Value() T { return i.value }

// Err is the error that ended the iteration, or nil.
func (i *Iterator[T]) Err() error { return i.err }

func (i *Iterator[T]) all(ctx context.Context) ([]T, error) {
	var values []T
	for i.Next(ctx) {
		values = append(values, i.Value())
	}
	return values, i.Err()
}
