package store_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/internal/together"
)

// TestMain runs few property tests, each of which opens stores, unless all tests are asked for.
func TestMain(m *testing.M) {
	if !longtest.All() {
		if err := flag.Set("rapid.checks", "20"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func open(t *testing.T, o store.Options) *store.Store {
	t.Helper()
	s := must.Have(store.Open(o))(t)
	t.Cleanup(func() { _ = s.Close() }) // a test may have closed it
	return s
}

func save(t *testing.T, s *store.Store, e nostr.Event, want store.Outcome) {
	t.Helper()
	complete(&e)
	if got, err := s.Save(t.Context(), &e); got != want || err != nil {
		t.Fatalf("event %s: %v, %v, want %v", e.ID, got, err, want)
	}
}

// complete sets the fields of an event that a test does not set to zeros.
func complete(e *nostr.Event) *nostr.Event {
	zeros := strings.Repeat("0", 128)
	e.ID, e.PubKey, e.Sig = cmp.Or(e.ID, zeros[:64]), cmp.Or(e.PubKey, zeros[:64]), cmp.Or(e.Sig, zeros)
	return e
}

// everything matches all events.
var everything = nostr.Filter{}

// TestLargestEvents checks that the largest events of the protocol fit a transaction of the
// smallest store.
func TestLargestEvents(t *testing.T) {
	const mostTags = 2000
	s := open(t, store.Options{Dir: t.TempDir(), Memory: 64 << 20})
	event := func(n, kind int, tag func(i int) nostr.Tag) nostr.Event {
		e := nostr.Event{ID: idOf(n), PubKey: authorOf(1), CreatedAt: nostr.Timestamp(n), Kind: kind, Content: strings.Repeat("x", 64<<10)}
		for i := range mostTags {
			e.Tags = append(e.Tags, tag(i))
		}
		return e
	}
	follows := func(version int) func(int) nostr.Tag {
		return func(i int) nostr.Tag { return nostr.Tag{"p", idOf(version*mostTags + i)} }
	}
	for version := range 3 {
		save(t, s, event(version+1, 3, follows(version)), store.Saved)
	}
	for i, want := range map[int]int{0: 0, mostTags: 0, 2 * mostTags: 1, 3*mostTags - 1: 1} {
		f := nostr.Filter{Tags: nostr.TagMap{"p": {idOf(i)}}}
		if found := all(t, s, f, 100); len(found) != want {
			t.Errorf("value %d finds %d versions, want %d", i, len(found), want)
		}
	}
	beyond := event(3000, 1, func(i int) nostr.Tag { return nostr.Tag{"t", fmt.Sprint(i)} })
	beyond.Tags = append(beyond.Tags, nostr.Tag{"t", "beyond"})
	save(t, s, beyond, store.Saved)
	for value, want := range map[string]int{"1999": 1, "beyond": 0} {
		if found := all(t, s, nostr.Filter{Tags: nostr.TagMap{"t": {value}}}, 100); len(found) != want {
			t.Errorf("%q finds %d events, want %d", value, len(found), want)
		}
	}
}

func TestAfterClose(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	save(t, s, nostr.Event{Kind: 1}, store.Saved)
	cursor := s.Query(everything)
	if err := s.Reclaim(); err != nil {
		t.Error(err)
	}
	must.Do(t, s.Close())
	for name, use := range map[string]func() error{
		"Save":    func() error { _, err := s.Save(t.Context(), complete(&nostr.Event{Kind: 1})); return err },
		"Next":    func() error { _, err := cursor.Next(1, nil); return err },
		"Reclaim": s.Reclaim,
		"Close":   s.Close,
	} {
		if err := use(); !errors.Is(err, store.ErrClosed) {
			t.Errorf("%s: %v, want ErrClosed", name, err)
		}
	}
}

// The first d tag is of the address of an event, also if it has no value.
func TestFirstDTag(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for n, tags := range []nostr.Tags{{{"d"}, {"d", "x"}}, {{"d", ""}, {"d", "y"}}, {{"e", "x"}}} {
		save(t, s, nostr.Event{ID: idOf(n), CreatedAt: nostr.Timestamp(n), Kind: 30000, Tags: tags}, store.Saved)
	}
	if found := all(t, s, everything, 100); len(found) != 1 || found[0].CreatedAt != 2 {
		t.Errorf("%v, want the last version", found)
	}
}

// TestCloseWaits closes the store while a cursor reads. If Close did not wait, Badger would
// unmap the memory being read.
func TestCloseWaits(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for n := range 10 {
		save(t, s, nostr.Event{ID: idOf(n), Kind: 1}, store.Saved)
	}
	closed, found := make(chan error, 1), 0
	more, err := s.Query(everything).Next(100, func([]byte) bool {
		if found++; found == 1 {
			go func() { closed <- s.Close() }()
			for s.Reclaim() == nil {
			}
		}
		if len(closed) > 0 || s.DB().IsClosed() {
			t.Error("closed under the cursor")
		}
		return true
	})
	if more || err != nil || found != 10 {
		t.Errorf("found %d, more %v, %v", found, more, err)
	}
	if err := <-closed; err != nil {
		t.Error(err)
	}
}

func TestWhatOpenRefuses(t *testing.T) {
	if _, err := store.Open(store.Options{}); err == nil || !strings.Contains(err.Error(), "Dir is empty") {
		t.Error(err)
	}
	dir := t.TempDir()
	open(t, store.Options{Dir: dir})
	if _, err := store.Open(store.Options{Dir: dir}); err == nil {
		t.Error("a directory that is open was opened again")
	}
}

func TestWhatSaveRefuses(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	for _, kind := range []int{-1, 65536} {
		if outcome, err := s.Save(t.Context(), &nostr.Event{Kind: kind}); outcome != 0 || err == nil {
			t.Errorf("kind %d: %v, %v", kind, outcome, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if outcome, err := s.Save(ctx, &nostr.Event{Kind: 1}); outcome != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", outcome, err)
	}
	if got := fmt.Sprint(store.Superseded, store.Outcome(0), store.Outcome(9)); got != "superseded Outcome(0) Outcome(9)" {
		t.Error(got)
	}
}

// TestSavesAtOnce saves versions and their duplicates from many goroutines.
func TestSavesAtOnce(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	const savers, versions = 8, 40
	together.Do(savers, func(saver int) {
		for i := range versions {
			n := (i*7 + saver*5) % versions
			e := nostr.Event{ID: idOf(n + 1), PubKey: authorOf(n % 2), CreatedAt: nostr.Timestamp(n), Kind: 0, Tags: nostr.Tags{{"t", "x"}}}
			if _, err := s.Save(t.Context(), complete(&e)); err != nil {
				t.Error(err)
			}
		}
	})
	for _, f := range []nostr.Filter{everything, {Kinds: []int{0}}, {Authors: []string{authorOf(0), authorOf(1)}}, {Tags: nostr.TagMap{"t": {"x"}}}} {
		if found := all(t, s, f, 100); len(found) != 2 || found[0].CreatedAt != versions-1 || found[1].CreatedAt != versions-2 {
			t.Errorf("found %s", forms(found))
		}
	}
}

// TestFullDisk fills a file system of its own. The store refuses in time, and has every
// acknowledged event. It is not opened where flushing its memtables would end the process
// with SIGBUS.
func TestFullDisk(t *testing.T) {
	longtest.Skip(t)
	race.Skip(t, "one goroutine writes and reads")
	dir := importtest.SmallDisk(t, 220)
	s := open(t, store.Options{Dir: dir, Memory: 64 << 20})
	saved := 0
	for ; ; saved++ {
		e := nostr.Event{ID: idOf(saved), CreatedAt: nostr.Timestamp(saved), Kind: 1, Content: strings.Repeat(fmt.Sprint(saved), 2000)}
		if _, err := s.Save(t.Context(), complete(&e)); errors.Is(err, store.ErrFull) {
			t.Logf("after %d events: %v", saved, err)
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(all(t, s, everything, 1000)); n != saved {
		t.Errorf("%d events, want %d", n, saved)
	}
	must.Do(t, s.Close())
	s = open(t, store.Options{Dir: dir, Memory: 64 << 20})
	if len(all(t, s, everything, 1000)) != saved {
		t.Errorf("after reopening not %d events", saved)
	}
	must.Do(t, s.Close())
	pad := must.Have(os.Create(filepath.Join(dir, "pad")))(t)
	for _, err := pad.Write(make([]byte, 1<<20)); err == nil; _, err = pad.Write(make([]byte, 1<<20)) {
	}
	must.Do(t, pad.Close())
	if _, err := store.Open(store.Options{Dir: dir, Memory: 64 << 20}); !errors.Is(err, store.ErrFull) {
		t.Errorf("on a disk that others have filled: %v, want ErrFull", err)
	}
}
