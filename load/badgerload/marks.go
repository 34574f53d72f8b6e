package badgerload

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/dgraph-io/badger/v4"
)

// Marks keeps the marks of imports in the store itself, each under its own key. It implements
// bulk.Marks.
type Marks struct {
	DB     *badger.DB // the store
	Prefix string     // of the keys of marks; no other key begins with it
}

// Mark returns the mark of an import, 0 if there is none.
func (m Marks) Mark(_ context.Context, id string) (lines int64, err error) {
	err = m.DB.View(func(tx *badger.Txn) error {
		item, err := tx.Get(m.key(id))
		if err != nil {
			return err
		}
		return item.Value(func(value []byte) error {
			if len(value) != 8 {
				return fmt.Errorf("badgerload: the mark of the import %s has %d bytes, want 8: does another key begin with %q?", id, len(value), m.Prefix)
			}
			lines = int64(binary.BigEndian.Uint64(value))
			return nil
		})
	})
	if errors.Is(err, badger.ErrKeyNotFound) {
		return 0, nil
	}
	return lines, err
}

// SetMark sets the mark of an import.
func (m Marks) SetMark(_ context.Context, id string, lines int64) error {
	return m.DB.Update(func(tx *badger.Txn) error {
		return tx.Set(m.key(id), binary.BigEndian.AppendUint64(nil, uint64(lines)))
	})
}

func (m Marks) key(id string) []byte { return []byte(m.Prefix + id) }
