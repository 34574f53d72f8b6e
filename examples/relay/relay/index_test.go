package relay

import (
	"fmt"
	"slices"
	"testing"

	"github.com/nbd-wtf/go-nostr"
	"pgregory.net/rapid"
)

// TestIndexIsTheModel compares the index with matching all subscriptions, as random ones open
// and close.
func TestIndexIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := index{}
		var open []*query
		t.Repeat(map[string]func(*rapid.T){
			"open": func(t *rapid.T) {
				q := &query{filters: rapid.SliceOfN(rapid.Custom(drawFilter), 1, 3).Draw(t, "filters")}
				q.headings = headingsOf(q.filters)
				open = append(open, q)
				x.add(q)
			},
			"close": func(t *rapid.T) {
				if len(open) == 0 {
					return
				}
				i := rapid.IntRange(0, len(open)-1).Draw(t, "which")
				x.remove(open[i])
				open = slices.Delete(open, i, i+1)
			},
			"publish": func(t *rapid.T) {
				e := drawEvent(t)
				found := x.wanting(&e)
				want := 0
				for _, q := range open {
					if !matchesAny(q.filters, &e) {
						continue
					}
					want++
					if !slices.Contains(found, q) {
						t.Fatalf("%v is not found for %v", q.filters, e)
					}
				}
				if len(found) != want {
					t.Fatalf("%d are found for %v, want %d", len(found), e, want)
				}
			},
		})
		for _, q := range open {
			x.remove(q)
		}
		if len(x) > 0 {
			t.Fatalf("%d headings of no subscription", len(x))
		}
	})
}

func drawFilter(t *rapid.T) (f nostr.Filter) {
	draw := func(name string) []string {
		if rapid.Bool().Draw(t, "no "+name) {
			return nil
		}
		values := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}), 0, 3, rapid.ID).Draw(t, name)
		slices.Sort(values)
		return values
	}
	f.IDs, f.Authors = draw("ids"), draw("authors")
	if values := draw("kinds"); values != nil {
		f.Kinds = []int{}
		for _, v := range values {
			f.Kinds = append(f.Kinds, int(v[0]-'0'))
		}
	}
	for _, letter := range []string{"p", "e"} {
		if values := draw("#" + letter); values != nil {
			if f.Tags == nil {
				f.Tags = nostr.TagMap{}
			}
			f.Tags[letter] = values
		}
	}
	return f
}

func drawEvent(t *rapid.T) nostr.Event {
	number := rapid.IntRange(1, 5)
	e := nostr.Event{ID: fmt.Sprint(number.Draw(t, "id")), PubKey: fmt.Sprint(number.Draw(t, "author")), Kind: number.Draw(t, "kind")}
	for range rapid.IntRange(0, 4).Draw(t, "tags") {
		name := rapid.SampledFrom([]string{"p", "e", "long", "\x01", "\x00"}).Draw(t, "name")
		e.Tags = append(e.Tags, nostr.Tag{name, fmt.Sprint(number.Draw(t, "value"))})
	}
	return e
}
