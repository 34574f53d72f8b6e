package relay

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/weir-go/weir/examples/relay/nostr"
	"pgregory.net/rapid"
)

// The index finds exactly the matching subscriptions, as random subscriptions open and
// close.
func TestIndexAgainstAskingAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r registry
		var open []*subscription
		conn := new(connection)
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				s := &subscription{conn: conn, filters: rapid.SliceOfN(rapid.Custom(drawFilter), 1, 3).Draw(t, "filters")}
				open = append(open, s)
				r.add(s)
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				r.remove(open[i])
				r.remove(open[i])
				open = slices.Delete(open, i, i+1)
			},
			"publish": func(t *rapid.T) {
				e := drawEvent(t)
				found := r.index.wanting(&e)
				for _, s := range open {
					times := 0
					for _, f := range found {
						if f == s {
							times++
						}
					}
					if want := wanted(s.filters, &e); want != (times == 1) || times > 1 {
						t.Fatalf("found %d times, though it wants the event is %v: %+v, %+v", times, want, s.filters, e)
					}
				}
			},
		})
		for _, s := range open {
			r.remove(s)
		}
		if len(r.index.filed) > 0 || conn.filed != 0 {
			t.Fatalf("%d headings and a count of %d are left of no subscription", len(r.index.filed), conn.filed)
		}
	})
}

// TestIndexWhileSubscriptionsComeAndGo checks that each event finds every subscription that
// stays open; the race detector checks the others.
func TestIndexWhileSubscriptionsComeAndGo(t *testing.T) {
	var r registry
	for range 10 {
		r.add(&subscription{conn: new(connection), ctx: t.Context(), filters: []nostr.Filter{{Kinds: []int{1}}}})
	}
	filters := []nostr.Filter{{}, {Kinds: []int{}}, {Kinds: []int{1, 2}}, {Tags: map[byte][]string{'e': {"x"}}}, {IDs: []nostr.ID{{1}, {1}}}}
	for range 2000 { // more than the index files
		filters = append(filters, nostr.Filter{Authors: []nostr.PubKey{{1}, {2}, {3}}})
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			conn := new(connection)
			for range 20 {
				one, other := &subscription{conn: conn, filters: filters}, &subscription{conn: conn, filters: filters[:5]}
				r.add(other)
				r.add(one)
				r.remove(other)
				r.remove(one)
				r.remove(one)
			}
			if conn.filed != 0 {
				t.Errorf("%d values are filed for a connection without subscriptions", conn.filed)
			}
		})
		all.Go(func() {
			e := nostr.Event{ID: nostr.ID{1}, PubKey: nostr.PubKey{9}, Kind: 1, Tags: []nostr.Tag{{"e", "x"}, {"\x01", "x"}, {"\x00", ""}}}
			for range 200 {
				r.mu.RLock()
				found := r.index.wanting(&e)
				r.mu.RUnlock()
				stay := 0
				for _, s := range found {
					if s.ctx != nil {
						stay++
					}
				}
				if stay != 10 {
					t.Errorf("found %d of the 10 that stay", stay)
				}
			}
		})
	}
	all.Wait()
	if len(r.index.filed) != 1 {
		t.Errorf("%d headings, want that of those that stay", len(r.index.filed))
	}
}

// A connection with many values is matched against each event, and does not fill the index.
func TestIndexIsBoundedForEachConnection(t *testing.T) {
	var r registry
	conn := new(connection)
	for range 100 {
		f := nostr.Filter{}
		for i := range 1000 {
			f.Kinds = append(f.Kinds, i)
		}
		r.add(&subscription{conn: conn, filters: []nostr.Filter{f}})
	}
	if conn.filed > mostFiled+100 {
		t.Errorf("%d headings, want at most %d and one for each subscription", conn.filed, mostFiled)
	}
	if found := r.index.wanting(&nostr.Event{Kind: 7}); len(found) != 100 {
		t.Errorf("found %d of 100", len(found))
	}
}

func drawFilter(t *rapid.T) (f nostr.Filter) {
	numbers := rapid.SliceOfNDistinct(rapid.IntRange(1, 5), 0, 3, rapid.ID)
	draw := func(name string) ([]int, bool) {
		values := numbers.Draw(t, name)
		slices.Sort(values)
		return values, rapid.Bool().Draw(t, "has "+name)
	}
	if values, has := draw("ids"); has {
		f.IDs = []nostr.ID{}
		for _, v := range values {
			f.IDs = append(f.IDs, nostr.ID{byte(v)})
		}
	}
	if values, has := draw("authors"); has {
		f.Authors = []nostr.PubKey{}
		for _, v := range values {
			f.Authors = append(f.Authors, nostr.PubKey{byte(v)})
		}
	}
	if values, has := draw("kinds"); has {
		f.Kinds = values
	}
	for _, letter := range "pe" {
		values, has := draw("#" + string(letter))
		if !has {
			continue
		}
		if f.Tags == nil {
			f.Tags = map[byte][]string{}
		}
		for _, v := range values {
			f.Tags[byte(letter)] = append(f.Tags[byte(letter)], fmt.Sprint(v))
		}
	}
	return f
}

func drawEvent(t *rapid.T) nostr.Event {
	number := rapid.IntRange(1, 5)
	e := nostr.Event{ID: nostr.ID{byte(number.Draw(t, "id"))}, PubKey: nostr.PubKey{byte(number.Draw(t, "author"))}, Kind: number.Draw(t, "kind")}
	for range rapid.IntRange(0, 4).Draw(t, "tags") {
		name := rapid.SampledFrom([]string{"p", "e", "long"}).Draw(t, "name")
		e.Tags = append(e.Tags, nostr.Tag{name, fmt.Sprint(number.Draw(t, "value"))})
	}
	return e
}

// BenchmarkPublish finds the subscriptions of an event among 20,000 with an author each, and
// for comparison matches all of them.
func BenchmarkPublish(b *testing.B) {
	var r registry
	var conn *connection
	for i := range 20_000 {
		if i%20 == 0 {
			conn = new(connection)
		}
		r.add(&subscription{conn: conn, filters: []nostr.Filter{{Kinds: []int{1}, Authors: []nostr.PubKey{{byte(i), byte(i >> 8)}}}}})
	}
	e := nostr.Event{PubKey: nostr.PubKey{7, 7}, Kind: 1, Tags: []nostr.Tag{{"e", "x"}, {"p", "y"}}}
	b.Run("index", func(b *testing.B) {
		for b.Loop() {
			r.index.wanting(&e)
		}
	})
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			for s := range r.subs {
				wanted(s.filters, &e)
			}
		}
	})
}
