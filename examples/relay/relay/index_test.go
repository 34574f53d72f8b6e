package relay

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/internal/must"
	"pgregory.net/rapid"
)

// TestIndexIsTheModel compares the index with matching all subscriptions, as random ones open
// and close.
func TestIndexIsTheModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := newIndex()
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
		if len(x.filed) > 0 {
			t.Fatalf("%d headings of no subscription", len(x.filed))
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

// heap returns the size of the live heap.
func heap() int {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // a second time, for finalizers and pools
	runtime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}

// unserved returns a connection of which no query is performed.
func unserved(t *testing.T) *connection {
	t.Helper()
	s := must.Have(New(Config{Store: inBadger{}}))(t)
	t.Cleanup(s.governor.Close)
	c := &connection{server: s, ctx: t.Context(), kept: share{own: 1 << 30}, out: &outbox{limit: mostUnsent}, leaving: true}
	c.queries.conn, c.queries.open = c, map[string]*query{}
	return c
}

// repeated returns the text of n values of the form, each with another number.
func repeated(form string, first, n int) string {
	var values []string
	for i := range n {
		values = append(values, fmt.Sprintf(form, first+i))
	}
	return strings.Join(values, ",")
}

func TestQueriesWeighWhatTheyTake(t *testing.T) {
	const hex = `"%064x"`
	for name, filters := range map[string]func(first int) string{
		"none":           func(int) string { return `{}` },
		"ten":            func(int) string { return strings.Repeat(`{},`, 9) + `{}` },
		"unknown fields": func(int) string { return `{"search":"` + strings.Repeat("x", 98_000) + `"}` },
		"an author":      func(first int) string { return `{"authors":[` + repeated(hex, first, 1) + `]}` },
		"300 authors":    func(first int) string { return `{"authors":[` + repeated(hex, first, 300) + `]}` },
		"500 ids and 500 kinds": func(first int) string {
			return `{"ids":[` + repeated(hex, first, 500) + `],"kinds":[` + repeated("%d", 0, 500) + `]}`
		},
		"1000 tags": func(first int) string { return `{"#t":[` + repeated(`"%d"`, first, 1000) + `]}` },
		"tags of 26 letters": func(first int) string {
			var tags []string
			for letter := 'a'; letter <= 'z'; letter++ {
				tags = append(tags, `"#`+string(letter)+`":[`+repeated(`"%d"`, first, 30)+`]`)
			}
			return `{` + strings.Join(tags, ",") + `}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := unserved(t)
			const queries = 30
			var messages [][]byte
			for i := range queries {
				messages = append(messages, fmt.Appendf(nil, `["REQ","subscription %d",%s]`, i, filters(1000*i)))
			}
			before := heap()
			for _, text := range messages {
				m := must.Have(protocol.ParseMessage(text, protocol.Limits{}))(t)
				req := m.(*nostr.ReqEnvelope)
				c.queries.subscribe(req.SubscriptionID, req.Filters, len(text))
				c.queries.filed = 0 // as if each had a connection of its own
			}
			took, charged := heap()-before, c.kept.bytes
			t.Logf("a query takes %d bytes and is charged %d", took/queries, charged/queries)
			if charged < took || charged > 4*took {
				t.Errorf("charged %d bytes for %d, want at least that and at most four times as much", charged, took)
			}
			runtime.KeepAlive(c)
			runtime.KeepAlive(messages)
		})
	}
}

// TestHeadingsOfAConnectionAreBounded checks that a connection with many values is matched
// against each event, and does not fill the index.
func TestHeadingsOfAConnectionAreBounded(t *testing.T) {
	c := unserved(t)
	for i := range 32 {
		f := nostr.Filter{}
		for kind := range 1000 {
			f.Kinds = append(f.Kinds, kind)
		}
		c.queries.subscribe(fmt.Sprint(i), nostr.Filters{f}, 0)
	}
	if c.queries.filed > mostFiled+32 {
		t.Errorf("%d headings, want at most %d and one for each subscription", c.queries.filed, mostFiled)
	}
	if found := c.server.live.wanting(&nostr.Event{Kind: 7}); len(found) != 32 {
		t.Errorf("found %d of 32", len(found))
	}
	c.queries.endAll()
	if c.queries.filed != 0 || c.kept.bytes != 0 || len(c.server.live.filed) > 0 {
		t.Errorf("%d headings and %d bytes of no subscription", c.queries.filed, c.kept.bytes)
	}
}
