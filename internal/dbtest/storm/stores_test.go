package storm

import (
	"cmp"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/storm"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/load/badgerload"
)

// A store is the target of a variant.
type store struct {
	source load.Source
	badger *badger.DB // nil of another kind
	write  func(v variant) error
	read   func() error
	full   func() bool // reports whether it stalls
	close  func()
}

// keys is the number of keys: documents are rewritten, and reads find some.
const keys = 1 << 20

func (v variant) key() []byte {
	if v.fresh {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, rand.Uint64()), rand.Uint64())
	}
	return binary.BigEndian.AppendUint64(nil, rand.Uint64N(keys)*0x9E3779B97F4A7C15) // spread over the key space
}

// openBadger opens a store in a folder, with the initial data of the variant.
func openBadger(t *testing.T, v variant) store {
	o := badger.DefaultOptions(t.TempDir()).WithCompression(cmp.Or(v.compression, options.ZSTD)).WithLogger(nil)
	if v.data > 0 {
		fillBadger(t, o, v)
	}
	if v.memtable > 0 {
		o = o.WithMemTableSize(v.memtable)
	}
	if limit := o.MemTableSize / 10; o.ValueThreshold > limit {
		o.ValueThreshold = limit // Badger requires values of the tree to fit in a batch
	}
	db := must.Have(badger.Open(o))(t)
	return store{
		source: badgerload.New(db),
		badger: db,
		write: func(v variant) error {
			if v.batch == 1 {
				return db.Update(func(tx *badger.Txn) error { return tx.Set(v.key(), storm.Part(v.stock, v.size)) })
			}
			b := db.NewWriteBatch()
			defer b.Cancel()
			for range v.batch {
				if err := b.Set(v.key(), storm.Part(v.stock, v.size)); err != nil {
					return err
				}
			}
			return b.Flush()
		},
		read: func() error {
			return db.View(func(tx *badger.Txn) error {
				item, err := tx.Get(v.key())
				if errors.Is(err, badger.ErrKeyNotFound) {
					return nil
				} else if err != nil {
					return err
				}
				return item.Value(func([]byte) error { return nil })
			})
		},
		full:  func() bool { return fullLevel0(db) },
		close: func() { _ = db.Close() },
	}
}

func fillBadger(t *testing.T, o badger.Options, v variant) {
	db := must.Have(badger.Open(o))(t)
	defer db.Close()
	b := db.NewWriteBatch()
	for written := int64(0); written < v.data; written += int64(v.size) {
		must.Do(t, b.Set(v.key(), storm.Part(v.stock, v.size)))
	}
	must.Do(t, b.Flush())
}
