package store

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir/load/badgerload"
)

// ErrFull is returned by Save while the disk has too little free space. Events in the store
// can still be read. Open returns it if the disk has not even room for the memtables, which a
// store that was killed flushes as it is opened.
var ErrFull = errors.New("store: the disk is full")

// ErrClosed is returned by the methods of a store and its cursors after Close.
var ErrClosed = errors.New("store: the store is closed")

// Options are the settings of a store.
type Options struct {
	Dir    string // directory of the store; Open creates it
	Memory uint64 // memory target of the whole process in bytes, as in memory.Governor; 0 for 512 MiB
}

const (
	defaultMemory = 512 << 20

	// A transaction holds an entry for each 587 bytes of a memtable. The largest
	// transaction has slightly more than 4,000 entries: with 2 MiB, the memtable of a
	// store sized to less than 256 MiB, a contact list of 2,000 could not be replaced.
	leastMemtable = 4 << 20
)

// A Store keeps events. Its methods are safe for concurrent use.
type Store struct {
	db   *badger.DB
	conf badger.Options

	mu     sync.Mutex
	closed bool
	users  sync.WaitGroup // the calls that read or write
}

// Open opens the store in a directory, and creates it if there is none. Only one process at
// a time can open a directory.
func Open(o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, errors.New("store: Options.Dir is empty: want the directory of the store")
	}
	o.Memory = cmp.Or(o.Memory, defaultMemory)
	// Compressing tables took processors in bursts: without it the p99 of queries during
	// an import fell from 149 to 84 ms on two of them.
	conf := badgerload.Sized(badger.DefaultOptions(o.Dir).WithCompression(options.None).WithLogger(nil), o.Memory)
	conf.MemTableSize = max(conf.MemTableSize, leastMemtable)
	if err := badgerload.Space(conf.WithNumLevelZeroTablesStall(0)); err != nil { // without compactions
		return nil, fmt.Errorf("%w: %w", ErrFull, err)
	}
	db, err := badgerload.Open(conf)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	return &Store{db: db, conf: conf}, nil
}

// Close waits for the reads and writes in progress and closes the store. Later calls return
// [ErrClosed], as does a second Close.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.closed = true
	s.mu.Unlock()
	s.users.Wait()
	return s.db.Close()
}

// enter begins a use of the store. The caller calls s.users.Done at its end: Badger must not
// be closed before.
func (s *Store) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.users.Add(1)
	return nil
}

// Reclaim frees the disk space of replaced events in the value log: it rewrites a file with half
// or more garbage, if there is one, which uses the disk for about a second. It learns of garbage
// from compactions, which are delayed. A relay calls it every minute.
func (s *Store) Reclaim() error {
	const garbage = 0.5
	if err := s.enter(); err != nil {
		return err
	}
	defer s.users.Done()
	if err := s.db.RunValueLogGC(garbage); err != nil && !errors.Is(err, badger.ErrNoRewrite) {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// DB returns the database, for packages that measure it: badgerload.New and badgerload.Mapped. The
// store owns it.
func (s *Store) DB() *badger.DB { return s.db }

// valueOf returns a copy of the value under a key, nil if there is none. An empty value is not nil.
func valueOf(tx *badger.Txn, key []byte) ([]byte, error) {
	item, err := tx.Get(key)
	if errors.Is(err, badger.ErrKeyNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return item.ValueCopy([]byte{})
}
