package relay

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// heap returns the size of the live heap.
func heap() int {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // a second time, for finalizers and pools
	runtime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}

func TestSubscriptionsWeighWhatTheyTake(t *testing.T) {
	number := 0
	id := func() (id [32]byte) {
		number++
		binary.BigEndian.PutUint64(id[:], uint64(number))
		return id
	}
	for name, filters := range map[string]func() []nostr.Filter{
		"none": func() []nostr.Filter { return []nostr.Filter{{}} },
		"ten":  func() []nostr.Filter { return make([]nostr.Filter, 10) },
		"an author": func() []nostr.Filter {
			return []nostr.Filter{{Authors: []nostr.PubKey{id()}}}
		},
		"300 authors": func() []nostr.Filter {
			var f nostr.Filter
			for range 300 {
				f.Authors = append(f.Authors, id())
			}
			return []nostr.Filter{f}
		},
		"500 ids and 500 kinds": func() []nostr.Filter {
			var f nostr.Filter
			for i := range 500 {
				f.IDs, f.Kinds = append(f.IDs, id()), append(f.Kinds, i)
			}
			return []nostr.Filter{f}
		},
		"1000 tags": func() []nostr.Filter {
			f := nostr.Filter{Tags: map[byte][]string{}}
			for range 1000 {
				number++
				f.Tags['t'] = append(f.Tags['t'], fmt.Sprint(number))
			}
			return []nostr.Filter{f}
		},
		"tags of 26 letters": func() []nostr.Filter {
			f := nostr.Filter{Tags: map[byte][]string{}}
			for letter := range byte(26) {
				for range 30 {
					number++
					f.Tags['a'+letter] = append(f.Tags['a'+letter], fmt.Sprint(number))
				}
			}
			return []nostr.Filter{f}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := &connection{server: new(Server)}
			c.ctx = t.Context()
			c.queries.init(c)
			var subs []*subscription
			before, charged := heap(), 0
			for i := range 50 {
				c.filed = 0 // as if each had a connection of its own
				s := newSubscription(c, &nostr.ReqMessage{Subscription: fmt.Sprintf("a subscription's name, %d", i), Filters: filters()})
				c.queries.open[s.id] = s
				c.server.registry.add(s)
				charged += weightOf(s.filters, 0)
				subs = append(subs, s)
			}
			took := heap() - before
			t.Logf("%d subscriptions take %d bytes each and are charged %d", len(subs), took/len(subs), charged/len(subs))
			if charged < took || charged > 4*took {
				t.Errorf("charged %d bytes for %d, want at least that and at most four times as much", charged, took)
			}
			runtime.KeepAlive(c)
		})
	}
}

// The number of headings counted in advance is the number of headings that the index files.
func TestFiledUnderIsTheNumberOfHeadings(t *testing.T) {
	for _, f := range []nostr.Filter{
		{},
		{IDs: []nostr.ID{{1}, {2}}, Authors: []nostr.PubKey{{1}}},
		{IDs: []nostr.ID{}},
		{Authors: []nostr.PubKey{{1}, {2}, {3}}, Kinds: []int{1}},
		{Tags: map[byte][]string{'e': {"x", "y"}, 'p': {"z"}}, Kinds: []int{1, 2}},
		{Kinds: []int{1, 2}},
	} {
		if got, want := filedUnder(&f), len(headings(&f)); got != want {
			t.Errorf("%+v: %d, want %d", f, got, want)
		}
	}
}
