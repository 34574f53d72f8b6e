package store_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/gen"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/longtest"
)

var (
	events  = flag.Int("events", 0, "how many events TestMillion saves before it measures queries; 0 skips it")
	queries = flag.Int("queries", 1000, "how many queries of a sort TestMillion measures")
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

// TestMillion fills a store and prints the duration of queries and the number of events they
// find. The time does not include writing JSON:
//
//	scripts/all go test ./examples/relay/store -run Million -v -timeout 1h -events 1000000
func TestMillion(t *testing.T) {
	if *events == 0 {
		t.Skip("takes minutes: -events 1000000 runs it")
	}
	s := open(t, store.Options{Dir: t.TempDir()})
	fill(t, s, *events)
	known := sample(t, s)
	t.Logf("%-24s %5s %9s %9s %9s %8s", "query", "limit", "p50", "p99", "worst", "events")
	for _, sort := range sorts {
		for _, limit := range []int{20, 100, 500} { // a screen, a page, and the relay's maximum
			random := rand.New(rand.NewPCG(1, 2))
			var took []time.Duration
			found := 0
			for range *queries {
				f := sort.filter(func() nostr.Event { return known[random.IntN(len(known))] })
				f.Limit = limit
				began := time.Now()
				found += len(all(t, s, f, 1000))
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			n := *queries
			t.Logf("%-24s %5d %9v %9v %9v %8.1f", sort.name, limit, round(took[n/2]), round(took[n*99/100]), round(took[n-1]), float64(found)/float64(n))
		}
	}
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }

// fill saves events of package gen from eight goroutines.
func fill(t *testing.T, s *store.Store, n int) {
	const savers, authors = 8, 10_000
	made := make(chan nostr.Event, 1000)
	go func() {
		defer close(made)
		g := gen.New(1, authors)
		for range n {
			made <- g.Unsigned()
		}
	}()
	var saving sync.WaitGroup
	began := time.Now()
	for range savers {
		saving.Go(func() {
			for e := range made {
				if _, err := s.Save(t.Context(), &e); err != nil {
					t.Error(err)
				}
			}
		})
	}
	saving.Wait()
	t.Logf("saved %d events in %v", n, time.Since(began).Round(time.Second))
}

// sample reads events at random times.
func sample(t *testing.T, s *store.Store) (known []nostr.Event) {
	random := rand.New(rand.NewPCG(1, 1))
	newest := all(t, s, nostr.Filter{Limit: 1}, 1000)[0].CreatedAt
	for range 1000 {
		until := newest - nostr.Timestamp(random.IntN(*events)) // an event a second
		known = append(known, all(t, s, nostr.Filter{Until: &until, Limit: 10}, 1000)...)
	}
	return known
}

// sorts are the measured queries, made from events of the store.
var sorts = []struct {
	name   string
	filter func(pick func() nostr.Event) nostr.Filter
}{
	{"an ID", func(pick func() nostr.Event) nostr.Filter { return nostr.Filter{IDs: []string{pick().ID}} }},
	{"100 IDs", func(pick func() nostr.Event) (f nostr.Filter) {
		for range 100 {
			f.IDs = append(f.IDs, pick().ID)
		}
		return f
	}},
	{"an author", func(pick func() nostr.Event) nostr.Filter { return nostr.Filter{Authors: []string{pick().PubKey}} }},
	{"an author and a kind", func(pick func() nostr.Event) nostr.Filter {
		return nostr.Filter{Authors: []string{pick().PubKey}, Kinds: []int{1}}
	}},
	{"an author's profile", func(pick func() nostr.Event) nostr.Filter {
		return nostr.Filter{Authors: []string{pick().PubKey}, Kinds: []int{0}}
	}},
	{"300 authors and 2 kinds", func(pick func() nostr.Event) nostr.Filter {
		f := nostr.Filter{Kinds: []int{1, 6}}
		for range 300 {
			f.Authors = append(f.Authors, pick().PubKey)
		}
		return f
	}},
	{"a kind before a time", func(pick func() nostr.Event) nostr.Filter {
		e := pick()
		return nostr.Filter{Kinds: []int{e.Kind}, Until: &e.CreatedAt}
	}},
	{"a tag", func(pick func() nostr.Event) nostr.Filter { return nostr.Filter{Tags: tagOf(pick)} }},
	{"a tag and 3 kinds", func(pick func() nostr.Event) nostr.Filter {
		return nostr.Filter{Tags: tagOf(pick), Kinds: []int{1, 6, 7}}
	}},
	{"a time", func(pick func() nostr.Event) nostr.Filter {
		e := pick()
		return nostr.Filter{Until: &e.CreatedAt}
	}},
}

// tagOf returns a tag of some event.
func tagOf(pick func() nostr.Event) nostr.TagMap {
	for {
		for _, tag := range pick().Tags {
			if len(tag.Key()) == 1 && len(tag) > 1 {
				return nostr.TagMap{tag.Key(): {tag.Value()}}
			}
		}
	}
}
