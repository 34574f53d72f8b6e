package store

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/dgraph-io/badger/v4"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/internal/wire"
	"github.com/weir-go/weir/load/badgerload"
)

// An Outcome is the result of saving an event.
type Outcome uint8

// The outcomes. The zero Outcome comes with an error.
const (
	Saved      Outcome = 1 // it is in the store
	Duplicate  Outcome = 2 // it was already stored
	Superseded Outcome = 3 // a newer version is stored
	Ephemeral  Outcome = 4 // its kind is not kept
)

var outcomes = [...]string{Saved: "saved", Duplicate: "duplicate", Superseded: "superseded", Ephemeral: "ephemeral"}

// String returns the outcome in a word.
func (o Outcome) String() string { return wire.Word(outcomes[:], o, "Outcome") }

// Save adds an event to the store, and applies its effect on other events by the rules of
// the package. The caller has verified it. Concurrent calls are safe, even with versions of
// the same event: the result equals some sequential order.
//
// The error is that of ctx, [ErrClosed], [ErrFull], an error of Badger, or reports that the
// event has a kind above 65,535. The event has then not been saved.
func (s *Store) Save(ctx context.Context, e *nostr.Event) (Outcome, error) {
	if e.Kind < 0 || e.Kind > math.MaxUint16 {
		return 0, fmt.Errorf("store: kind %d: want 0 to 65535", e.Kind)
	}
	if e.IsEphemeral() {
		return Ephemeral, nil
	}
	if err := s.enter(); err != nil {
		return 0, err
	}
	defer s.users.Done()
	if err := badgerload.Space(s.conf); err != nil {
		return 0, fmt.Errorf("%w: %w", ErrFull, err)
	}
	var outcome Outcome
	return outcome, s.update(ctx, func(tx *badger.Txn) (err error) {
		if outcome, err = refuse(tx, e); outcome != 0 || err != nil {
			return err
		}
		outcome = Saved
		return add(tx, e)
	})
}

// update runs a transaction, and repeats it after a conflict.
func (s *Store) update(ctx context.Context, change func(*badger.Txn) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.db.Update(change)
		if !errors.Is(err, badger.ErrConflict) {
			return err
		}
	}
}

// refuse returns the outcome of an event that is not saved, and 0 for one that is.
func refuse(tx *badger.Txn, e *nostr.Event) (Outcome, error) {
	if found, err := valueOf(tx, key(inIDs, raw(e.ID))); err != nil || found != nil {
		return Duplicate, err
	}
	if address, ok := protocol.AddressOf(e); ok {
		newest, found, err := newestOf(tx, address)
		if err != nil || found && newest.before(stampOf(e)) {
			return Superseded, err
		}
	}
	return 0, nil
}

// newestOf returns the stamp of the newest version saved at an address.
func newestOf(tx *badger.Txn, a protocol.Address) (newest stamp, found bool, err error) {
	value, err := valueOf(tx, addressKey(inVersions, a))
	if err != nil || value == nil {
		return newest, false, err
	}
	if len(value) != len(newest) {
		return newest, false, fmt.Errorf("%w: version of %s", ErrCorrupt, a)
	}
	return stamp(value), true, nil
}

// add writes the keys of an event that was not refused, and replaces an older version.
func add(tx *badger.Txn, e *nostr.Event) error {
	s := stampOf(e)
	if err := supersede(tx, e); err != nil {
		return err
	}
	if err := tx.Set(key(inRecords, s[:]), protocol.EventJSON(e)); err != nil {
		return err
	}
	if err := tx.Set(key(inIDs, raw(e.ID)), s[:8]); err != nil {
		return err
	}
	kind := bytesOf(e.Kind)
	for _, k := range indexKeys(e) {
		if err := tx.Set(k, kind); err != nil {
			return err
		}
	}
	return nil
}

// supersede removes the older version, which this one replaces.
func supersede(tx *badger.Txn, e *nostr.Event) error {
	address, ok := protocol.AddressOf(e)
	if !ok {
		return nil
	}
	s := stampOf(e)
	newest, found, err := newestOf(tx, address)
	if err != nil {
		return err
	}
	if found {
		if err := remove(tx, newest); err != nil {
			return err
		}
	}
	return tx.Set(addressKey(inVersions, address), s[:])
}

// remove deletes the keys of an event, if it is stored.
func remove(tx *badger.Txn, s stamp) error {
	record, err := valueOf(tx, key(inRecords, s[:]))
	if err != nil || record == nil {
		return err
	}
	e, err := decode(s, record)
	if err != nil {
		return err
	}
	for _, k := range append(indexKeys(&e), key(inRecords, s[:]), key(inIDs, raw(e.ID))) {
		if err := tx.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
