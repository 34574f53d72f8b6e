package store_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/relay/gen"
	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/longtest"
)

var (
	events  = flag.Int("events", 0, "how many events TestMillion saves before it measures queries; 0 skips it")
	queries = flag.Int("queries", 1000, "how many queries of a sort TestMillion measures")
	dir     = flag.String("dir", "", "directory of a store that TestMillion fills, or that it filled before; a new one if it is empty")
)

// limits are the limits of the queries: a screen, a page, and the relay's maximum.
var limits = []int{20, 100, 500}

// TestMillion fills a store and prints the duration of queries, the number of events they
// find and the size of their answers:
//
//	scripts/all go test ./examples/relay/store -run Million -v -timeout 1h -events 1000000
func TestMillion(t *testing.T) {
	longtest.Skip(t)
	if *events == 0 {
		t.Skip("takes minutes: -events 1000000 runs it")
	}
	s, err := store.Open(store.Options{Dir: directory(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	began := time.Now()
	stats := statsOf(t, s)
	t.Logf("Stats of %d events took %v", stats.Events(), time.Since(began))
	if stats.Events() == 0 {
		fill(t, s, *events)
		stats = statsOf(t, s)
	}
	tree, values := s.DB().Size()
	t.Logf("%d events, %d MB of tree and %d MB of log", stats.Events(), tree/1e6, values/1e6)

	known := sample(t, s, stats)
	t.Logf("%-24s %5s %9s %9s %9s %8s %8s %9s", "query", "limit", "p50", "p99", "worst", "events", "kB", "p99 of kB")
	for _, sort := range sorts {
		for _, limit := range limits {
			measure(t, s, sort.name, limit, sort.filter, known)
		}
	}
}

// measure times queries of one kind, and then repeats them to get their sizes.
func measure(t *testing.T, s *store.Store, name string, limit int, filter func(*rand.Rand, []nostr.Event) nostr.Filter, known []nostr.Event) {
	t.Helper()
	var took []time.Duration
	var sizes []int
	random := rand.New(rand.NewPCG(1, 2))
	emitted, sum := 0, 0
	for range *queries {
		f := filter(random, known)
		f.Limit = limit
		began := time.Now()
		read(t, s, f)
		took = append(took, time.Since(began))
		found := all(t, s, f, 1000)
		emitted += len(found)
		size := 0
		for _, e := range found {
			size += len(e.AppendJSON(nil))
		}
		sum, sizes = sum+size, append(sizes, size)
	}
	slices.Sort(took)
	slices.Sort(sizes)
	n := *queries
	t.Logf("%-24s %5d %9v %9v %9v %8.1f %8.1f %9.1f", name, limit, round(took[n/2]), round(took[n*99/100]), round(took[n-1]),
		float64(emitted)/float64(n), float64(sum)/float64(n)/1e3, float64(sizes[n*99/100])/1e3)
}

// read decodes the events and discards them, as a relay does after sending them. The time
// does not include writing JSON.
func read(t *testing.T, s *store.Store, f nostr.Filter) {
	t.Helper()
	cursor := s.Query(f)
	for more := true; more; {
		var err error
		if more, err = cursor.Next(1000, func(*nostr.Event) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
}

func directory(t *testing.T) string {
	if *dir == "" {
		return t.TempDir()
	}
	if err := os.MkdirAll(*dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return *dir
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

func statsOf(t *testing.T, s *store.Store) store.Stats {
	t.Helper()
	stats, err := s.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stats
}

// fill saves events of package gen from eight goroutines, with random bytes for signatures.
func fill(t *testing.T, s *store.Store, n int) {
	const savers, authors = 8, 10_000
	made := make(chan nostr.Event, 1000)
	go func() {
		defer close(made)
		g, random := gen.New(1, authors), rand.NewChaCha8([32]byte{})
		for range n {
			e := g.Unsigned()
			_, _ = random.Read(e.Sig[:]) // never fails
			made <- e
		}
	}()
	var saving sync.WaitGroup
	var mu sync.Mutex
	outcomes, longest, began := map[store.Outcome]int{}, time.Duration(0), time.Now()
	for range savers {
		saving.Go(func() {
			for e := range made {
				began := time.Now()
				outcome, err := s.Save(t.Context(), &e)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				outcomes[outcome]++
				longest = max(longest, time.Since(began))
				mu.Unlock()
			}
		})
	}
	saving.Wait()
	t.Logf("%v in %v, the longest Save %v", outcomes, time.Since(began).Round(time.Second), round(longest))
}

// sample reads events at random times.
func sample(t *testing.T, s *store.Store, stats store.Stats) (known []nostr.Event) {
	random := rand.New(rand.NewPCG(1, 1))
	for range 1000 {
		until := stats.Oldest + random.Int64N(stats.Newest-stats.Oldest+1)
		known = append(known, all(t, s, nostr.Filter{Until: until, Limit: 10}, 1000)...)
	}
	return known
}

// sorts are the measured queries.
var sorts = []struct {
	name   string
	filter func(*rand.Rand, []nostr.Event) nostr.Filter
}{
	{"an ID", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{IDs: []nostr.ID{pick(r, known).ID}}
	}},
	{"100 IDs", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		f := nostr.Filter{}
		for range 100 {
			f.IDs = append(f.IDs, pick(r, known).ID)
		}
		return f
	}},
	{"an author", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{Authors: []nostr.PubKey{pick(r, known).PubKey}}
	}},
	{"an author and a kind", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{Authors: []nostr.PubKey{pick(r, known).PubKey}, Kinds: []int{1}}
	}},
	{"an author's profile", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{Authors: []nostr.PubKey{pick(r, known).PubKey}, Kinds: []int{0}}
	}},
	{"300 authors and 2 kinds", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		f := nostr.Filter{Kinds: []int{1, 6}}
		for range 300 {
			f.Authors = append(f.Authors, pick(r, known).PubKey)
		}
		return f
	}},
	{"a kind before a time", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		e := pick(r, known)
		return nostr.Filter{Kinds: []int{e.Kind}, Until: e.CreatedAt}
	}},
	{"a tag", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{Tags: tagOf(r, known)}
	}},
	{"a tag and 3 kinds", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{Tags: tagOf(r, known), Kinds: []int{1, 6, 7}}
	}},
	{"a time", func(r *rand.Rand, known []nostr.Event) nostr.Filter {
		return nostr.Filter{Until: pick(r, known).CreatedAt}
	}},
}

func pick(r *rand.Rand, known []nostr.Event) nostr.Event { return known[r.IntN(len(known))] }

// tagOf returns a tag of some event.
func tagOf(r *rand.Rand, known []nostr.Event) map[byte][]string {
	for {
		e := pick(r, known)
		if len(e.Tags) == 0 {
			continue
		}
		if tag := e.Tags[r.IntN(len(e.Tags))]; len(tag.Name()) == 1 && len(tag) > 1 {
			return map[byte][]string{tag.Name()[0]: {tag.Value()}}
		}
	}
}
