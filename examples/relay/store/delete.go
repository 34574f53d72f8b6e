package store

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/dgraph-io/badger/v4"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// A deletion holds the events and addresses that an event of kind 5 names; it is empty for
// other kinds.
type deletion struct {
	author    []byte
	until     nostr.Timestamp // the time of the deletion
	ids       []string
	addresses []protocol.Address
}

func namedBy(e *nostr.Event) (d deletion, err error) {
	if e.Kind != nostr.KindDeletion {
		return d, nil
	}
	ids, addresses := protocol.Deletions(e)
	d = deletion{author: raw(e.PubKey), until: e.CreatedAt, ids: unique(ids), addresses: unique(addresses)}
	if n := len(d.ids) + len(d.addresses); n > maxIndexed {
		return d, fmt.Errorf("store: event %s deletes %d events: want at most %d in one deletion", e.ID, n, maxIndexed)
	}
	return d, nil
}

func unique[T comparable](list []T) []T {
	seen := map[T]bool{}
	return slices.DeleteFunc(list, func(x T) bool {
		was := seen[x]
		seen[x] = true
		return was
	})
}

// mark blocks the events that the deletion names, and returns the stamps of those stored. If
// they have more keys than a transaction holds, the caller removes them first; an event
// saved again meanwhile makes the next transaction conflict, or is returned again.
func (d *deletion) mark(tx *badger.Txn) (doomed []stamp, err error) {
	for _, id := range d.ids {
		s, mine, err := d.find(tx, id)
		if err != nil {
			return nil, err
		}
		if mine {
			doomed = append(doomed, s)
		}
		if err := tx.Set(key(goneID, raw(id), d.author), nil); err != nil {
			return nil, err
		}
	}
	for _, a := range d.addresses {
		newest, found, err := newestOf(tx, a)
		if err != nil {
			return nil, err
		}
		if found && newest.created() <= d.until {
			if record, err := valueOf(tx, key(inRecords, newest[:])); err != nil {
				return nil, err
			} else if record != nil {
				doomed = append(doomed, newest)
			}
		}
		if err := d.markTo(tx, a); err != nil {
			return nil, err
		}
	}
	return doomed, nil
}

// find returns the stamp of an event, and whether it is stored and the author may delete it.
func (d *deletion) find(tx *badger.Txn, id string) (s stamp, mine bool, err error) {
	created, err := valueOf(tx, key(inIDs, raw(id)))
	if err != nil || len(created) != 8 {
		return s, false, err
	}
	copy(s[:], created)
	copy(s[8:], raw(id))
	kind, err := valueOf(tx, key(inAuthors, d.author, s[:]))
	return s, len(kind) == 2 && int(binary.BigEndian.Uint16(kind)) != nostr.KindDeletion, err
}

// markTo blocks the versions at an address up to the time of the deletion, or of a later
// one.
func (d *deletion) markTo(tx *badger.Txn, a protocol.Address) error {
	k := addressKey(goneTo, a)
	until, found, err := timeAt(tx, k)
	if err != nil || found && until >= d.until {
		return err
	}
	return tx.Set(k, binary.BigEndian.AppendUint64(nil, uint64(d.until)))
}

// isDeleted reports whether the author of an event has deleted it.
func isDeleted(tx *badger.Txn, e *nostr.Event) (bool, error) {
	if e.Kind == nostr.KindDeletion {
		return false, nil
	}
	if mark, err := valueOf(tx, key(goneID, raw(e.ID), raw(e.PubKey))); err != nil || mark != nil {
		return true, err
	}
	address, ok := protocol.AddressOf(e)
	if !ok {
		return false, nil
	}
	until, found, err := timeAt(tx, addressKey(goneTo, address))
	return found && e.CreatedAt <= until, err
}

func timeAt(tx *badger.Txn, key []byte) (t nostr.Timestamp, found bool, err error) {
	value, err := valueOf(tx, key)
	if err != nil || value == nil {
		return 0, false, err
	}
	if len(value) != 8 {
		return 0, false, fmt.Errorf("%w: a time of %d bytes", ErrCorrupt, len(value))
	}
	return nostr.Timestamp(binary.BigEndian.Uint64(value)), true, nil
}
