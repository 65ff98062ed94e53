package receiver

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
)

// FileStore is an inbox store in a file, for one process: a line of JSON per event, written to disk before
// MarkProcessed returns. It keeps as much as MemoryStore does.
type FileStore struct {
	memory *MemoryStore
	mutex  sync.Mutex
	file   *os.File
	// The length of the file up to its last whole line.
	length int64
}

// OpenFileStore opens the file, or creates it. It drops entries over the limit, and a last line that a crash cut off.
func OpenFileStore(path string) (*FileStore, error) {
	store := &FileStore{memory: NewMemoryStore()}
	lines, err := store.read(path)
	if err != nil {
		return nil, fmt.Errorf("the inbox %s cannot be read: %w", path, err)
	}
	if lines > 2*entriesMax {
		if err := store.compact(path); err != nil {
			return nil, fmt.Errorf("the inbox %s cannot be shortened: %w", path, err)
		}
	}
	store.file, err = os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("the inbox cannot be opened: %w", err)
	}
	store.length, err = store.file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, fmt.Errorf("the inbox %s cannot be read: %w", path, firstOf(err, store.file.Close()))
	}
	return store, nil
}

func (s *FileStore) read(path string) (lines int, err error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer file.Close()
	reader, end := bufio.NewReader(file), int64(0)
	for {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			// Cut off by a crash: MarkProcessed had not returned, so the event is delivered again.
			return lines, file.Truncate(end)
		}
		if err != nil {
			return 0, err
		}
		lines, end = lines+1, end+int64(len(line))
		var received Received
		if err := json.Unmarshal(line, &received); err != nil {
			return 0, fmt.Errorf("line %d: %w", lines, err)
		}
		_ = s.memory.MarkProcessed(context.Background(), received)
	}
}

// compact writes only what the memory still has.
func (s *FileStore) compact(path string) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(temporary.Name())
	writer := bufio.NewWriter(temporary)
	encoder := json.NewEncoder(writer)
	for _, id := range s.memory.idsByAge {
		err = firstOf(err, encoder.Encode(Received{OutgoingID: id}))
	}
	for _, key := range s.memory.keysByAge {
		err = firstOf(err, encoder.Encode(Received{Record: key, SequenceVersion: s.memory.latest[key]}))
	}
	err = firstOf(err, writer.Flush())
	err = firstOf(err, temporary.Sync())
	err = firstOf(err, temporary.Close())
	if err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}

func firstOf(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// IsProcessed says whether the id is stored.
func (s *FileStore) IsProcessed(ctx context.Context, outgoingID string) (bool, error) {
	return s.memory.IsProcessed(ctx, outgoingID)
}

// LatestSequence is the stored position of the record.
func (s *FileStore) LatestSequence(ctx context.Context, record RecordKey) (int64, error) {
	return s.memory.LatestSequence(ctx, record)
}

// MarkProcessed writes the event to the file, and waits until it is on disk.
func (s *FileStore) MarkProcessed(ctx context.Context, received Received) error {
	line, err := json.Marshal(received)
	if err != nil {
		return err
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	line = append(line, '\n')
	_, err = s.file.Write(line)
	if err = firstOf(err, s.file.Sync()); err != nil {
		// Remove what was written of the line, so that the next one does not follow half a line.
		return firstOf(err, s.file.Truncate(s.length))
	}
	s.length += int64(len(line))
	return s.memory.MarkProcessed(ctx, received)
}

// Close closes the file.
func (s *FileStore) Close() error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.file.Close()
}
