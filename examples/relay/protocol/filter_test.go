package protocol_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/nbd-wtf/go-nostr"
	"pgregory.net/rapid"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// filterOf returns the filter of a REQ.
func filterOf(t interface{ Fatalf(string, ...any) }, text string) *nostr.Filter {
	m, err := protocol.ParseMessage([]byte(`["REQ","s",` + text + `]`))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return &m.(*nostr.ReqEnvelope).Filters[0]
}

func at(t int) *nostr.Timestamp { return (*nostr.Timestamp)(new(int64(t))) }

func TestFilters(t *testing.T) {
	for text, want := range map[string]nostr.Filter{
		`{}`: {Limit: 500},
		// Empty lists match nothing, absent ones everything.
		`{"ids":[],"authors":[],"kinds":[],"#e":[]}`: {
			IDs: []string{}, Authors: []string{}, Kinds: []int{}, Tags: nostr.TagMap{"e": {}}, Limit: 500,
		},
		// Values are sorted, without duplicates.
		`{"kinds":[7,1,7,0],"#p":["b","","a","b"],"#P":["x"]}`: {
			Kinds: []int{0, 1, 7}, Tags: nostr.TagMap{"p": {"", "a", "b"}, "P": {"x"}}, Limit: 500,
		},
		`{"since":0,"until":-5}`: {Since: at(0), Until: at(-5), Limit: 500},
		// A limit of 0 asks for no stored events. A limit above the relay's maximum
		// is lowered to it.
		`{"limit":0}`:                   {LimitZero: true},
		`{"limit":499}`:                 {Limit: 499},
		`{"limit":9223372036854775807}`: {Limit: 500},
		// Unknown fields are ignored.
		`{"search":"x","":0,"x":{"y":[1,2.5e3,"\n",true,false,null,{}]}}`: {Limit: 500},
	} {
		if got := filterOf(t, text); !reflect.DeepEqual(*got, want) {
			t.Errorf("%s is read as %+v, want %+v", text, *got, want)
		}
	}
}

// An empty list matches nothing, and a limit of 0 matches live events.
func TestMatchesWithEmptyLists(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true, `{"limit":0}`: true, `{"ids":[]}`: false, `{"authors":[]}`: false, `{"kinds":[]}`: false, `{"#e":[]}`: false,
	} {
		if got := protocol.Matches(filterOf(t, text), &nostr.Event{Kind: 1}); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestMatchesAsGoNostr compares with the simple loops of go-nostr.
func TestMatchesAsGoNostr(t *testing.T) {
	few := func(t *rapid.T, label string) []int {
		if rapid.Bool().Draw(t, "no "+label) {
			return nil
		}
		return rapid.SliceOfN(rapid.IntRange(0, 2), 0, 3).Draw(t, label)
	}
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		drawn := nostr.Filter{Kinds: few(t, "kinds"), Tags: nostr.TagMap{}}
		for _, i := range few(t, "ids") {
			drawn.IDs = append(drawn.IDs, numbered(i))
		}
		for _, i := range few(t, "authors") {
			drawn.Authors = append(drawn.Authors, numbered(i))
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"e", "p"}), 0, 2, rapid.ID[string]).Draw(t, "tags") {
			drawn.Tags[name] = rapid.SliceOfN(rapid.SampledFrom([]string{"", "e", "p", "t"}), 1, 2).Draw(t, name)
		}
		for name, bound := range map[string]**nostr.Timestamp{"since": &drawn.Since, "until": &drawn.Until} {
			if time := rapid.IntRange(-1, 5).Draw(t, name); rapid.Bool().Draw(t, "has "+name) {
				*bound = at(time)
			}
		}
		f, e := filterOf(t, drawn.String()), drawEvent(t)
		got, want := protocol.Matches(f, &e), f.Matches(&e)
		if got != want || got != protocol.Matcher(&e)(f) {
			t.Fatalf("%v, want %v: %v on %v", got, want, f, e)
		} else if got {
			matched++
		}
	})
	if matched == 0 {
		t.Error("no filter matched")
	}
}

// Clients may subscribe to a hundred thousand filters, and publish events of 2,000 tags: a filter
// costs little more with such an event than with a small one, and a filter of 1,000 values no more
// than to look each of them up. To compare every pair would take 2,000 and 1,000 times as long.
func TestMatchingManyTagsAndValues(t *testing.T) {
	event := func(tags int) *nostr.Event {
		var e nostr.Event
		for i := range tags {
			e.Tags = append(e.Tags, nostr.Tag{"t", fmt.Sprintf("a%05d", i)})
		}
		return &e
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("b%05d", i)
	}
	fastest := func(e *nostr.Event, values []string) time.Duration {
		f, matches := nostr.Filter{Tags: nostr.TagMap{"t": values}}, protocol.Matcher(e)
		least := time.Hour
		for range 10 {
			began := time.Now()
			for range 100 {
				if matches(&f) {
					t.Fatal("a filter matches values that the event does not have")
				}
			}
			least = min(least, time.Since(began))
		}
		return least
	}
	small, large := fastest(event(2), many[:1]), fastest(event(2000), many[:1])
	if large > 50*small {
		t.Errorf("100 filters take %v with an event of 2,000 tags, and %v with one of two", large, small)
	}
	if all := fastest(event(2000), many); all > 10_000*small {
		t.Errorf("100 filters of 1,000 values take %v, and %v with one value and two tags", all, small)
	}
	if all := fastest(event(2), many); all > 50*small {
		t.Errorf("100 filters of 1,000 values take %v with two tags, and %v of one value", all, small)
	}
	same := &nostr.Event{Tags: slices.Repeat(nostr.Tags{{"t", "a"}}, 2000)}
	if repeated := fastest(same, many[:2]); repeated > 50*small {
		t.Errorf("100 filters take %v with 2,000 equal tags, and %v with two", repeated, small)
	}
}

// A query matches each event that it reads with one filter, which mostly has no tags: contacts of a
// thousand names must not cost it more.
func TestMatchingOnceTakesLittleMemory(t *testing.T) {
	e := &nostr.Event{Kind: 3, Tags: slices.Repeat(nostr.Tags{{"p", "a"}}, 2000)}
	for _, f := range []nostr.Filter{{Kinds: []int{3}}, {Tags: nostr.TagMap{"p": {"a"}}}} {
		if got := testing.AllocsPerRun(100, func() {
			if !protocol.Matches(&f, e) {
				t.Error("it does not match")
			}
		}); got > 1 {
			t.Errorf("%v: %v allocations", f, got)
		}
	}
}
