package badgerload_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load/badgerload"
)

func TestOpenAfterAKillThatLeftEmptyLogs(t *testing.T) {
	options := badger.DefaultOptions(t.TempDir()).WithLogger(nil)
	db := must.Have(badgerload.Open(options))(t)
	must.Do(t, db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("key"), []byte("value")) }))
	must.Do(t, db.Close())
	for _, name := range []string{"00008.mem", "00009.mem", "000009.vlog"} {
		must.Do(t, os.WriteFile(filepath.Join(options.Dir, name), nil, 0o600))
	}
	db = must.Have(badgerload.Open(options))(t)
	defer db.Close()
	must.Do(t, db.View(func(tx *badger.Txn) error { _, err := tx.Get([]byte("key")); return err }))
	if _, err := badgerload.Open(options); err == nil {
		t.Error("a store that is open was opened again")
	}
}
