package nostr_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/relay/nostr"
)

func TestWhatAFilterMeans(t *testing.T) {
	for text, want := range map[string]nostr.Filter{
		`{}`: {Limit: 500},
		// Empty lists match nothing, absent ones everything.
		`{"ids":[],"authors":[],"kinds":[],"#e":[]}`: {
			IDs: []nostr.ID{}, Authors: []nostr.PubKey{}, Kinds: []int{}, Tags: map[byte][]string{'e': {}}, Limit: 500,
		},
		// Values are sorted, without duplicates.
		`{"kinds":[7,1,7,0],"#p":["b","","a","b"],"#P":["x"]}`: {
			Kinds: []int{0, 1, 7}, Tags: map[byte][]string{'p': {"", "a", "b"}, 'P': {"x"}}, Limit: 500,
		},
		// A bound of 0 or less: no event is from before the first second of 1970.
		`{"since":0,"until":0}`:   {Until: -1, Limit: 500},
		`{"since":-5,"until":-5}`: {Until: -5, Limit: 500},
		`{"since":-0,"until":5}`:  {Until: 5, Limit: 500},
		`{"since":5,"until":9}`:   {Since: 5, Until: 9, Limit: 500},
		// A limit of 0 asks for no stored events. A limit above the relay's maximum
		// is lowered to it.
		`{"limit":0}`:                   {Limit: 0},
		`{"limit":499}`:                 {Limit: 499},
		`{"limit":9223372036854775807}`: {Limit: 500},
		// Unknown fields are ignored.
		`{"search":"x","":0,"x":{"y":[1,2.5e3,"\n",true,false,null,{}]}}`: {Limit: 500},
	} {
		if got, err := nostr.ParseFilter([]byte(text), nostr.Limits{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, %v, want %+v", text, got, err, want)
		}
	}
}

func TestWhatAFilterMatches(t *testing.T) {
	e, err := nostr.ParseEvent([]byte(event("tags", `[["e","a"],["e","b","x"],["ee","c"],["p"],[]]`)), nostr.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		`{}`: true,
		`{"ids":["` + id + `"],"authors":["` + key + `"],"kinds":[0,1],"since":1700000000,"until":1700000000,"#e":["b","z"]}`: true,
		`{"ids":[]}`:              false,
		`{"authors":[]}`:          false,
		`{"kinds":[]}`:            false,
		`{"#e":[]}`:               false,
		`{"since":1700000001}`:    false,
		`{"until":1699999999}`:    false,
		`{"until":0}`:             false,
		`{"limit":0}`:             true, // live events
		`{"#e":["x"]}`:            false,
		`{"#e":["c"]}`:            false,
		`{"#p":[""]}`:             false,
		`{"#e":["a"],"#p":["a"]}`: false,
		`{"ids":["` + strings.Repeat("00", 32) + `"]}`: false,
	} {
		f, err := nostr.ParseFilter([]byte(text), nostr.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Matches(&e); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestMatchingManyValues checks that a filter of a thousand values costs little more than a
// filter of one: at most 200 times as much, while comparing every pair costs a thousand
// times as much.
func TestMatchingManyValues(t *testing.T) {
	var e nostr.Event
	for i := range 2000 {
		e.Tags = append(e.Tags, nostr.Tag{"t", fmt.Sprintf("a%05d", i)})
	}
	many := make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("b%05d", i)
	}
	fastest := func(values []string) time.Duration {
		f := nostr.Filter{Tags: map[byte][]string{'t': values}}
		least := time.Duration(1 << 62)
		for range 10 {
			began := time.Now()
			if f.Matches(&e) {
				t.Fatal("a filter matches values that the event does not have")
			}
			least = min(least, time.Since(began))
		}
		return least
	}
	if one, all := fastest(many[:1]), fastest(many); all > 200*one {
		t.Errorf("1,000 values take %v, and one takes %v", all, one)
	}
}
