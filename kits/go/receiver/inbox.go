package receiver

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"

	aldaba "aldaba.dev/kit"
)

// RecordKey identifies a record.
type RecordKey struct {
	Tenant string `json:"tenant"`
	// Resource is as in the semantic name (`ACC.Customers`), or the name of an invoicing entity.
	Resource string `json:"resource"`
	// Company is empty if the tenant owns the record.
	Company string `json:"company,omitempty"`
	ID      string `json:"id"`
}

// Received is an event from a delivery or from the change feed, as the inbox sees it.
type Received struct {
	// OutgoingID is the id of the delivery; empty for the feed.
	OutgoingID string    `json:"outgoingId,omitempty"`
	Record     RecordKey `json:"record"`
	// SequenceVersion is the position in the log; 0 for invoicing notifications, which lack it, and for test events.
	SequenceVersion int64 `json:"sequenceVersion,omitempty"`
}

// Received is the event as the inbox sees it.
func (e *Event) Received() Received {
	received := Received{OutgoingID: e.OutgoingID}
	received.Record.Tenant, received.Record.ID = e.TenantID(), e.RecordID()
	if e.Accounting != nil {
		received.Record.Resource = resourceOf(e.Accounting.EventType.SemanticName)
		received.Record.Company = e.Accounting.ExtraPartitionInformation.PartitionClientID
		received.SequenceVersion = e.Accounting.SequenceVersion
	} else {
		received.Record.Resource = e.Invoicing.Entity
	}
	return received
}

// FromFeed is a change of the feed as the inbox sees it, for an inbox that also gets the deliveries of these records.
// The company is that of the feed; for companies themselves, it is the id of the record.
func FromFeed(change aldaba.Change, tenant, company string) Received {
	record := RecordKey{Tenant: tenant, Resource: resourceOf(change.Event), Company: company, ID: change.CorrelationID}
	return Received{Record: record, SequenceVersion: change.SequenceVersion}
}

// Store is the storage of an inbox: usually two tables in the application's database.
//
// Ideally MarkProcessed runs in the same transaction as your own writes (take it from the context): then no crash makes
// an event run twice. Ids can be deleted after 30 days, the time that the service keeps its log.
type Store interface {
	// IsProcessed says whether a delivery with this id was processed.
	IsProcessed(ctx context.Context, outgoingID string) (bool, error)
	// LatestSequence is the highest position that was processed for this record; 0 if there is none.
	LatestSequence(ctx context.Context, record RecordKey) (int64, error)
	// MarkProcessed stores the id, and the position if it is higher than the stored one.
	MarkProcessed(ctx context.Context, received Received) error
}

// Outcome is what the inbox did with an event.
type Outcome int

// The outcomes.
const (
	// Failed means that the handler or the store failed. The event is not marked: answer 500 and it is delivered again.
	Failed Outcome = iota
	// Processed means that the handler ran, for the first time.
	Processed
	// Duplicate means that this event was processed before.
	Duplicate
	// Superseded means that a later event of the same record was processed before.
	Superseded
)

const locks = 64

// Inbox processes each event once.
type Inbox struct {
	store Store
	// ByIDOnly is for applications that count or forward events: it skips only duplicates, so that replays of old events
	// that were never processed still run. Otherwise events older than the latest one of their record are skipped, too.
	ByIDOnly bool
	locks    [locks]sync.Mutex
}

// NewInbox is for applications that keep a copy of the records.
func NewInbox(store Store) *Inbox { return &Inbox{store: store} }

// ProcessOnce runs the handler unless the event was processed before. If the handler fails, the event can be processed
// again.
//
// Events of the same record run one after the other, for example when the service retries while the first attempt is
// still running. This holds within one process; across processes, the transaction of the store must decide.
func (i *Inbox) ProcessOnce(ctx context.Context, received Received, handler func(context.Context) error) (Outcome, error) {
	lock := &i.locks[hash(received.Record)%locks]
	lock.Lock()
	defer lock.Unlock()
	if received.OutgoingID != "" {
		isProcessed, err := i.store.IsProcessed(ctx, received.OutgoingID)
		if err != nil {
			return Failed, fmt.Errorf("the inbox store failed: %w", err)
		}
		if isProcessed {
			return Duplicate, nil
		}
	}
	if !i.ByIDOnly && received.SequenceVersion > 0 {
		latest, err := i.store.LatestSequence(ctx, received.Record)
		if err != nil {
			return Failed, fmt.Errorf("the inbox store failed: %w", err)
		}
		if latest >= received.SequenceVersion {
			return Superseded, nil
		}
	}
	if err := handler(ctx); err != nil {
		return Failed, err
	}
	if err := i.store.MarkProcessed(ctx, received); err != nil {
		return Failed, fmt.Errorf("the inbox store failed: %w", err)
	}
	return Processed, nil
}

func hash(record RecordKey) uint32 {
	sum := fnv.New32a()
	for _, part := range []string{record.Tenant, record.Resource, record.Company, record.ID} {
		_, _ = sum.Write([]byte(part))
		_, _ = sum.Write([]byte{0})
	}
	return sum.Sum32()
}

const entriesMax = 100_000

// MemoryStore keeps the last 100,000 ids and the positions of the last 100,000 records: for tests, and for applications
// that read the change feed at every start.
type MemoryStore struct {
	mutex     sync.RWMutex
	ids       map[string]bool
	idsByAge  []string
	latest    map[RecordKey]int64
	keysByAge []RecordKey
}

// NewMemoryStore returns an empty store.
func NewMemoryStore() *MemoryStore {
	return &MemoryStore{ids: map[string]bool{}, latest: map[RecordKey]int64{}}
}

// IsProcessed says whether the id is stored.
func (s *MemoryStore) IsProcessed(_ context.Context, outgoingID string) (bool, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.ids[outgoingID], nil
}

// LatestSequence is the stored position of the record.
func (s *MemoryStore) LatestSequence(_ context.Context, record RecordKey) (int64, error) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	return s.latest[record], nil
}

// MarkProcessed stores the id and the position.
func (s *MemoryStore) MarkProcessed(_ context.Context, received Received) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if id := received.OutgoingID; id != "" && !s.ids[id] {
		s.ids[id] = true
		s.idsByAge = append(s.idsByAge, id)
	}
	if received.SequenceVersion > 0 {
		known, isKnown := s.latest[received.Record]
		if !isKnown {
			s.keysByAge = append(s.keysByAge, received.Record)
		}
		if received.SequenceVersion > known {
			s.latest[received.Record] = received.SequenceVersion
		}
	}
	for len(s.idsByAge) > entriesMax {
		delete(s.ids, s.idsByAge[0])
		s.idsByAge = s.idsByAge[1:]
	}
	for len(s.keysByAge) > entriesMax {
		delete(s.latest, s.keysByAge[0])
		s.keysByAge = s.keysByAge[1:]
	}
	return nil
}
