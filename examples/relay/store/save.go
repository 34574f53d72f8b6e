package store

import (
	"bytes"
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
// The error is the error of ctx, [ErrClosed], [ErrFull], an error of Badger, or reports that the
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
	for {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		var outcome Outcome
		err := s.db.Update(func(tx *badger.Txn) (err error) {
			outcome, err = add(tx, e)
			return err
		})
		switch {
		case err == nil:
			return outcome, nil
		case !errors.Is(err, badger.ErrConflict): // with another save, which succeeded
			return 0, err
		}
	}
}

// add writes the keys of an event and removes its older version. It does neither if the store has
// the event, or a newer version.
func add(tx *badger.Txn, e *nostr.Event) (Outcome, error) {
	s, kind := stampOf(e), bytesOf(e.Kind)
	if found, err := valueOf(tx, key(inIDs, raw(e.ID))); err != nil || found != nil {
		return Duplicate, err
	}
	entries := []*badger.Entry{
		badger.NewEntry(key(inRecords, s[:]), protocol.EventJSON(e)),
		badger.NewEntry(key(inIDs, raw(e.ID)), s[:8]),
	}
	if address, versioned := addressKey(e); versioned {
		newest, err := valueOf(tx, address)
		switch {
		case err != nil:
			return 0, err
		case newest == nil: // the first version
		case bytes.Compare(newest, s[:]) < 0:
			return Superseded, nil
		default:
			if err := remove(tx, newest); err != nil {
				return 0, err
			}
		}
		entries = append(entries, badger.NewEntry(address, s[:]))
	}
	for _, k := range indexKeys(e) {
		entries = append(entries, badger.NewEntry(k, kind))
	}
	for _, entry := range entries {
		if err := tx.SetEntry(entry); err != nil {
			return 0, err
		}
	}
	return Saved, nil
}

// remove deletes the keys of the event of a stamp, if it is stored.
func remove(tx *badger.Txn, s []byte) error {
	record, err := valueOf(tx, key(inRecords, s))
	if err != nil || record == nil {
		return err
	}
	e, err := decode(s, record)
	if err != nil {
		return err
	}
	for _, k := range append(indexKeys(&e), key(inRecords, s), key(inIDs, raw(e.ID))) {
		if err := tx.Delete(k); err != nil {
			return err
		}
	}
	return nil
}
