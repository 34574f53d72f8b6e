package badgerload_test

import (
	"testing"

	"github.com/dgraph-io/badger/v4"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load/badgerload"
)

var _ bulk.Marks = badgerload.Marks{}

func TestMarksAreKept(t *testing.T) {
	options := small(t)
	db := open(t, options)
	marks := badgerload.Marks{DB: db, Prefix: "mark/"}
	want := func(id string, lines int64) {
		t.Helper()
		if has, err := marks.Mark(t.Context(), id); err != nil || has != lines {
			t.Errorf("the mark of %s is %d, %v, want %d", id, has, err, lines)
		}
	}
	want("a", 0)
	for _, lines := range []int64{1, 1 << 40} {
		must.Do(t, marks.SetMark(t.Context(), "a", lines))
		want("a", lines)
	}
	want("b", 0)
	must.Do(t, db.Update(func(tx *badger.Txn) error { return tx.Set([]byte("mark/b"), []byte("no mark")) }))
	if has, err := marks.Mark(t.Context(), "b"); err == nil {
		t.Errorf("another value counts as the mark %d", has)
	}
}
