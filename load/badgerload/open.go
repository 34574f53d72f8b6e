package badgerload

import (
	"strings"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/ristretto/v2/z"
)

// Open opens a store as [badger.Open] does, also after its process was killed between the creation
// of a log and the first write to it. Badger refuses such a store the first time, with an error
// that says "Create a new file", and gives the log its size. The next time it opens the store
// (Badger's issue 2207).
func Open(options badger.Options) (db *badger.DB, err error) {
	for range mostLogs {
		db, err = badger.Open(options)
		if err == nil || !strings.Contains(err.Error(), z.NewFile.Error()) { // it is not wrapped
			break
		}
	}
	return db, err
}

// mostLogs is more than the logs that a store makes at once: a log of values, and a log for each
// memtable.
const mostLogs = 20
