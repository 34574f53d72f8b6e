package store_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/longtest"
)

// Tests run this program as a child process with this as the first argument, then the
// directory of a store and the number of the first event.
const saving = "save"

func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == saving {
		var first int
		if _, err := fmt.Sscan(os.Args[3], &first); err != nil {
			panic(err)
		}
		panic(saveAll(os.Args[2], first))
	}
	if !longtest.All() {
		if err := flag.Set("rapid.checks", "20"); err != nil { // each opens stores
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// saveAll saves events from four goroutines, and writes the number of each acknowledged
// event, until it is killed.
func saveAll(dir string, first int) error {
	s, err := store.Open(store.Options{Dir: dir, Memory: 64 << 20})
	if err != nil {
		return err
	}
	const savers = 4
	var group sync.WaitGroup
	for saver := range savers {
		group.Go(func() {
			for n := first + saver; ; n += savers {
				e := numbered(n)
				if _, err := s.Save(context.Background(), &e); err != nil {
					panic(err)
				}
				fmt.Println(n)
			}
		})
	}
	group.Wait()
	return nil
}

// numbered returns events of different sizes, some large enough for the value log.
func numbered(n int) nostr.Event {
	e := nostr.Event{ID: idOf(n), CreatedAt: int64(n / 3), Kind: 1, Content: fmt.Sprintf("%0*d", n*37%3000, n)}
	e.ID[2] = byte(n >> 16)
	for i := range n % 5 {
		e.Tags = append(e.Tags, nostr.Tag{"t", fmt.Sprint(i)})
	}
	return e
}

// TestKilledStoreHasWhatItAcknowledged repeatedly kills a process while it saves to the same
// store.
func TestKilledStoreHasWhatItAcknowledged(t *testing.T) {
	longtest.Skip(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	acknowledged, next := map[int]bool{}, 0
	const kills = 10
	for range kills {
		process := exec.Command(program, saving, dir, fmt.Sprint(next))
		process.Stderr = os.Stderr
		out, err := process.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := process.Start(); err != nil {
			t.Fatal(err)
		}
		lines, until := bufio.NewScanner(out), 1+rand.IntN(5000)
		for n := 0; lines.Scan(); { // the pipe may still have numbers after the kill
			if _, err := fmt.Sscan(lines.Text(), &n); err != nil {
				t.Fatal(err)
			}
			acknowledged[n], next = true, max(next, n+1)
			if until--; until == 0 {
				if err := process.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := process.Wait(); err == nil || until > 0 {
			t.Fatalf("it ended by itself: %v", err)
		}
		next += 100 // some may have been saved and not acknowledged
		hasAll(t, dir, acknowledged)
	}
	t.Logf("%d events over %d kills", len(acknowledged), kills)
}

// hasAll checks that the store has the events of these numbers, each once and in each of its
// indexes.
func hasAll(t *testing.T, dir string, numbers map[int]bool) {
	t.Helper()
	s := open(t, store.Options{Dir: dir, Memory: 64 << 20})
	defer s.Close()
	byTime, seen := all(t, s, everything, 1000), map[nostr.ID]bool{}
	for _, e := range byTime {
		if seen[e.ID] {
			t.Errorf("%s is there twice", e.ID)
		}
		seen[e.ID] = true
	}
	for n := range numbers {
		if e := numbered(n); !seen[e.ID] {
			t.Errorf("event %d was acknowledged and is gone", n)
		}
	}
	for name, f := range map[string]nostr.Filter{"author": {Authors: []nostr.PubKey{{}}, Limit: -1}, "kind": {Kinds: []int{1}, Limit: -1}} {
		if n := count(t, s, f, 1000); n != len(byTime) {
			t.Errorf("%d events by %s, %d by time", n, name, len(byTime))
		}
	}
}
