package store_test

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/nbd-wtf/go-nostr"
	"pgregory.net/rapid"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
)

// TestCursorWhileEventsArrive saves events between the steps of a cursor: the events that
// were there from the start come once, in order.
func TestCursorWhileEventsArrive(t *testing.T) {
	race.Skip(t, "one goroutine writes and reads")
	rapid.Check(t, func(rt *rapid.T) {
		s, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			rt.Fatal(err)
		}
		defer s.Close()
		m := newModel()
		arrive := func(least, most int) {
			for range rapid.IntRange(least, most).Draw(rt, "events") {
				e := drawEvent(rt)
				e.Kind = rapid.SampledFrom([]int{1, 7, 9}).Draw(rt, "kind")
				if _, err := s.Save(t.Context(), &e); err != nil {
					rt.Fatal(err)
				}
				m.save(e)
			}
		}
		arrive(5, 40)
		f := drawFilter(rt)
		f.Limit = 0
		start, cursor := m.query(f), s.Query(f)
		var found []nostr.Event
		for more := true; more; arrive(0, 2) {
			if more, err = cursor.Next(rapid.IntRange(1, 6).Draw(rt, "keys"), func(event []byte) bool {
				found = append(found, read(event))
				return rapid.Bool().Draw(rt, "go on")
			}); err != nil {
				rt.Fatal(err)
			}
		}
		old := map[string]bool{}
		for _, e := range start {
			old[e.ID] = true
		}
		var fromStart []nostr.Event
		for i, e := range found {
			if i > 0 && newestFirst(found[i-1], e) >= 0 {
				rt.Fatalf("not newest first: %s", forms(found))
			}
			if !protocol.Matches(&f, &e) {
				rt.Fatalf("does not match: %s", form(e))
			}
			if old[e.ID] {
				fromStart = append(fromStart, e)
			}
		}
		same(rt, fromStart, start, fmt.Sprintf("%+v", f))
	})
}

// An event with two of the values that a filter names is in two ranges.
func TestEventInTwoRanges(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	tags := nostr.Tags{{"t", "x"}, {"t", "y"}}
	save(t, s, nostr.Event{ID: idOf(1), PubKey: authorOf(1), CreatedAt: 1, Kind: 1, Tags: tags}, store.Saved)
	if found := all(t, s, nostr.Filter{Tags: nostr.TagMap{"t": {"x", "y"}}}, 3); len(found) != 1 {
		t.Errorf("it is found %d times", len(found))
	}
}

// TestEventsThatVanish replaces events that a cursor has read ahead.
func TestEventsThatVanish(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for n := range 20 { // versions of ten authors, of two kinds each
		save(t, s, nostr.Event{ID: idOf(n), PubKey: authorOf(n % 10), CreatedAt: nostr.Timestamp(n + 1), Kind: 3 * (n / 10)}, store.Saved)
	}
	cursor := s.Query(nostr.Filter{Kinds: []int{0, 3}, Until: at(20)})
	found := 0
	emit := func([]byte) bool { found++; return found != 3 }
	if more, err := cursor.Next(1000, emit); !more || err != nil || found != 3 {
		t.Fatalf("more %v, %v, %d events, want 3", more, err, found)
	}
	for _, n := range []int{16, 2} {
		save(t, s, nostr.Event{ID: idOf(100 + n), PubKey: authorOf(n % 10), CreatedAt: 30, Kind: 3 * (n / 10)}, store.Saved)
	}
	if more, err := cursor.Next(1000, emit); more || err != nil || found != 18 {
		t.Errorf("more %v, %v, %d events, want 18", more, err, found)
	}
	if more, err := cursor.Next(1000, emit); more || err != nil || found != 18 {
		t.Errorf("after the end: more %v, %v, %d events", more, err, found)
	}
}

// TestStepsAreBounded checks that a call reads no more keys than requested, however many
// events its filter excludes.
func TestStepsAreBounded(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	const n = 300
	for i := range n {
		save(t, s, nostr.Event{ID: idOf(i), PubKey: authorOf(i % 2), Kind: 1 + i%2, CreatedAt: nostr.Timestamp(i), Tags: nostr.Tags{{"t", "x"}}}, store.Saved)
	}
	for _, test := range []struct {
		name string
		f    nostr.Filter
		keys int
	}{
		{"kinds ruled out by the index", nostr.Filter{Tags: nostr.TagMap{"t": {"x"}}, Kinds: []int{3}}, n},
		{"authors ruled out by the record", nostr.Filter{Tags: nostr.TagMap{"t": {"x"}}, Authors: []string{authorOf(2), authorOf(3)}}, 2 * n},
		{"IDs of others", nostr.Filter{IDs: manyIDs(n), Authors: []string{authorOf(2)}}, 2 * n},
		{"notes of many authors who have others or none", nostr.Filter{Authors: append(manyAuthors(149), authorOf(1)), Kinds: []int{1}}, 150},
		{"many empty ranges", nostr.Filter{Authors: manyAuthors(n), Kinds: []int{8}}, n},
		{"more ranges than are merged", nostr.Filter{Authors: manyAuthors(160), Kinds: slices.Repeat([]int{8}, 13)}, 160},
	} {
		cursor, steps := s.Query(test.f), 0
		for more := true; more; steps++ {
			more = must.Have(cursor.Next(10, func(event []byte) bool { t.Errorf("%s: found %s", test.name, event); return true }))(t)
		}
		if steps < test.keys/10 || steps > test.keys/10+2 {
			t.Errorf("%s: %d steps of 10 keys, want %d or two more", test.name, steps, test.keys/10)
		}
	}
}

// TestReadAhead checks the number of keys that a query reads: keys read ahead in its ranges,
// and a record for each event.
func TestReadAhead(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	const authors, each, newest = 20, 30, 60
	f := nostr.Filter{}
	for n := range authors * each {
		save(t, s, nostr.Event{ID: idOf(n), PubKey: authorOf(n % authors), Kind: 1, CreatedAt: nostr.Timestamp(n)}, store.Saved)
	}
	for n := range authors {
		f.Authors = append(f.Authors, authorOf(n))
	}
	takes := func(limit, want int) {
		t.Helper()
		f.Limit = limit
		if got := keysOf(t, s, f); got != want {
			t.Errorf("%d events took %d keys, want %d", limit, got, want)
		}
	}
	takes(1, authors+1)
	takes(40, 5*authors+40) // each range reads ahead twice the two events that an author has among them, and one
	for n := range newest {
		save(t, s, nostr.Event{ID: idOf(authors*each + n), PubKey: authorOf(0), Kind: 1, CreatedAt: nostr.Timestamp(authors*each + n)}, store.Saved)
	}
	takes(29, 3*authors+6+12+16+29) // all of the same author
}

// keysOf returns the number of keys that a single call needs to read all events of a query
// up to its limit.
func keysOf(t *testing.T, s *store.Store, f nostr.Filter) int {
	t.Helper()
	return sort.Search(1000, func(keys int) bool {
		found := 0
		must.Have(s.Query(f).Next(keys, func([]byte) bool { found++; return true }))(t)
		return found == f.Limit
	})
}

func manyIDs(n int) (ids []string) {
	for i := range n {
		ids = append(ids, idOf(i))
	}
	return ids
}

func manyAuthors(n int) (authors []string) {
	for i := range n {
		authors = append(authors, idOf(i))
	}
	return authors
}

// TestCorruptRecords damages stored records: the cursor returns an error, and continues
// after the record.
func TestCorruptRecords(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for n := range 3 {
		save(t, s, nostr.Event{ID: idOf(n), CreatedAt: nostr.Timestamp(n), Kind: 1, Tags: nostr.Tags{{"t", "x"}}}, store.Saved)
	}
	damage := func(prefix string, change func(tx *badger.Txn, key []byte) error) {
		t.Helper()
		if err := s.DB().Update(func(tx *badger.Txn) error {
			it := tx.NewIterator(badger.IteratorOptions{Prefix: []byte(prefix)})
			defer it.Close()
			it.Rewind()
			it.Next()
			return change(tx, it.Item().KeyCopy(nil))
		}); err != nil {
			t.Fatal(err)
		}
	}
	damage("r", func(tx *badger.Txn, key []byte) error { return tx.Set(key, []byte("short")) })
	damage("a", func(tx *badger.Txn, key []byte) error { return tx.Set(key[:len(key)-2], []byte{0, 1}) })
	for _, f := range []nostr.Filter{everything, {Authors: []string{strings.Repeat("0", 64)}}} {
		cursor, found, corrupt := s.Query(f), 0, 0
		for more := true; more; {
			var err error
			if more, err = cursor.Next(100, func([]byte) bool { found++; return true }); errors.Is(err, store.ErrCorrupt) {
				corrupt++
			} else if err != nil {
				t.Fatal(err)
			}
		}
		if found != 2 || corrupt == 0 {
			t.Errorf("%+v: found %d events and %d errors, want 2 and some", f, found, corrupt)
		}
	}
	for _, f := range []nostr.Filter{everything, {Kinds: []int{1}}} {
		if n, _, err := s.Query(f).Count(100); n != 3 || err != nil {
			t.Errorf("%+v: %d events, %v; want 3, by their keys alone", f, n, err)
		}
	}
}
