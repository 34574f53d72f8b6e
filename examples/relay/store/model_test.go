package store_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"
	"pgregory.net/rapid"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/race"
)

// A model is a store as a slice, with the rules of the protocol in their simplest form.
type model struct {
	events []nostr.Event
	newest map[string]nostr.Event // by address
}

func newModel() model {
	return model{newest: map[string]nostr.Event{}}
}

func (m *model) save(e nostr.Event) store.Outcome {
	if e.IsEphemeral() {
		return store.Ephemeral
	}
	if slices.ContainsFunc(m.events, func(x nostr.Event) bool { return x.ID == e.ID }) {
		return store.Duplicate
	}
	if !m.supersede(e) {
		return store.Superseded
	}
	m.events = append(m.events, e)
	return store.Saved
}

// supersede removes the version that e replaces, and reports false if its address has had a
// newer one.
func (m *model) supersede(e nostr.Event) bool {
	address := addressOf(e)
	if address == "" {
		return true
	}
	if newest, ok := m.newest[address]; ok && newestFirst(e, newest) >= 0 {
		return false
	}
	m.newest[address] = e
	m.events = slices.DeleteFunc(m.events, func(x nostr.Event) bool { return addressOf(x) == address })
	return true
}

// addressOf returns the address that the versions of an event share, "" for none.
func addressOf(e nostr.Event) string {
	switch e.Kind {
	case 0, 3, 10002:
		return fmt.Sprintf("%d:%s:", e.Kind, e.PubKey)
	case 30023, 30024:
		return fmt.Sprintf("%d:%s:%s", e.Kind, e.PubKey, valueOfD(e.Tags))
	}
	return ""
}

// valueOfD returns the value of the first "d" tag. A tag without a value counts as an empty one.
func valueOfD(tags nostr.Tags) string {
	for _, tag := range tags {
		if tag[0] == "d" {
			return strings.Join(tag[1:min(len(tag), 2)], "")
		}
	}
	return ""
}

func (m *model) query(f nostr.Filter) (found []nostr.Event) {
	for _, e := range m.events {
		if protocol.Matches(&f, &e) {
			found = append(found, e)
		}
	}
	slices.SortFunc(found, newestFirst)
	switch {
	case f.LimitZero:
		return nil
	case f.Limit > 0 && len(found) > f.Limit:
		return found[:f.Limit]
	}
	return found
}

func newestFirst(a, b nostr.Event) int {
	if a.CreatedAt != b.CreatedAt {
		return int(b.CreatedAt - a.CreatedAt)
	}
	return strings.Compare(a.ID, b.ID)
}

// The values are drawn from small sets, so that events collide.
var (
	kinds   = []int{1, 1, 7, 5, 5, 0, 3, 10002, 20001, 30023, 30024, 65535}
	letters = []string{"e", "p", "t", "a", "d", "title", "-"}
)

func authorOf(n int) string { return fmt.Sprintf("aa%062x", n) }

func idOf(n int) string { return fmt.Sprintf("%02x%060x%02x", n&0xff, 0, n>>8) }

func at(t int) *nostr.Timestamp { return (*nostr.Timestamp)(new(int64(t))) }

const ids = 60

// drawn holds the events drawn so far: an ID is the hash of one event.
type drawn map[string]nostr.Event

func (d drawn) event(t *rapid.T) nostr.Event {
	e := drawEvent(t)
	if first, ok := d[e.ID]; ok {
		return first
	}
	d[e.ID] = e
	return e
}

func drawEvent(t *rapid.T) nostr.Event {
	n := rapid.IntRange(0, ids-1).Draw(t, "id")
	author := rapid.IntRange(0, 2).Draw(t, "author")
	return nostr.Event{
		ID: idOf(n), PubKey: authorOf(author), CreatedAt: nostr.Timestamp(rapid.IntRange(1, 6).Draw(t, "time")),
		Kind: rapid.SampledFrom(kinds).Draw(t, "kind"),
		Tags: rapid.SliceOfN(rapid.Custom(drawTag), 0, 4).Draw(t, "tags"), Content: rapid.String().Draw(t, "content"),
		Sig: fmt.Sprintf("%02x01%02x%0122x", n, author, 0),
	}
}

func drawTag(t *rapid.T) nostr.Tag {
	name := rapid.SampledFrom(letters).Draw(t, "name")
	tag := nostr.Tag{name, drawValue(t, name)}
	if rapid.Bool().Draw(t, "relay") {
		tag = append(tag, "wss://relay.example", "")
	}
	return tag[:rapid.SampledFrom([]int{len(tag), len(tag), len(tag), 1}).Draw(t, "values")]
}

func drawValue(t *rapid.T, name string) string {
	switch name {
	case "e":
		return idOf(rapid.IntRange(0, ids-1).Draw(t, "named"))
	case "p":
		return authorOf(rapid.IntRange(0, 2).Draw(t, "named"))
	case "a":
		return fmt.Sprintf("30023:%s:x", authorOf(rapid.IntRange(0, 2).Draw(t, "author")))
	}
	return rapid.SampledFrom([]string{"", "x", "y", strings.Repeat("AB", 32), strings.Repeat("z", 300)}).Draw(t, "value")
}

func drawFilter(t *rapid.T) nostr.Filter {
	f := nostr.Filter{Limit: rapid.SampledFrom([]int{0, 0, 0, 1, 3, 500}).Draw(t, "limit")}
	f.LimitZero = f.Limit == 0 && rapid.IntRange(0, 2).Draw(t, "none") == 0
	has := func(what string) bool { return rapid.IntRange(0, 2).Draw(t, what) == 0 }
	if has("has ids") {
		f.IDs = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, ids), idOf), 0, 20).Draw(t, "ids")
		slices.Sort(f.IDs)
	}
	if has("has authors") {
		f.Authors = rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), authorOf), 0, 4).Draw(t, "authors")
		slices.Sort(f.Authors)
	}
	if has("has kinds") {
		f.Kinds = rapid.SliceOfN(rapid.SampledFrom(kinds), 0, 6).Draw(t, "kinds")
		slices.Sort(f.Kinds)
	}
	if has("has tags") {
		f.Tags = nostr.TagMap{}
		for range rapid.IntRange(1, 2).Draw(t, "letters") {
			name := rapid.SampledFrom(letters[:5]).Draw(t, "letter")
			for range rapid.IntRange(0, 3).Draw(t, "values") {
				f.Tags[name] = append(f.Tags[name], drawValue(t, name))
			}
			slices.Sort(f.Tags[name])
		}
	}
	if has("has since") {
		f.Since = at(rapid.IntRange(1, 6).Draw(t, "since"))
	}
	if has("has until") {
		f.Until = at(rapid.IntRange(1, 6).Draw(t, "until"))
	}
	return f
}

// read returns the event of a record.
func read(event []byte) (e nostr.Event) {
	if err := json.Unmarshal(event, &e); err != nil {
		panic(err)
	}
	return e
}

// all reads a cursor in steps of the given number of keys.
func all(t fataler, s *store.Store, f nostr.Filter, keys int) (found []nostr.Event) {
	t.Helper()
	cursor := s.Query(f)
	for more := true; more; {
		var err error
		if more, err = cursor.Next(keys, func(event []byte) bool { found = append(found, read(event)); return true }); err != nil {
			t.Fatal(err)
		}
	}
	if n := count(t, s, f, keys); n != len(found) {
		t.Fatal(fmt.Sprintf("%+v: a count of %d for %d events", f, n, len(found)))
	}
	return found
}

func count(t fataler, s *store.Store, f nostr.Filter, keys int) (n int) {
	t.Helper()
	cursor := s.Query(f)
	for more := true; more; {
		found, goOn, err := cursor.Count(keys)
		if err != nil {
			t.Fatal(err)
		}
		n, more = n+found, goOn
	}
	return n
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

// same checks that both have the same events in the same order.
func same(t *rapid.T, got, want []nostr.Event, what string) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(a, b nostr.Event) bool { return form(a) == form(b) }) {
		t.Fatalf("%s\ngot  %s\nwant %s", what, forms(got), forms(want))
	}
}

func form(e nostr.Event) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s by %s at %d of kind %d %s %s", e.ID, e.PubKey, e.CreatedAt, e.Kind, e.Sig, strconv.Quote(e.Content))
	for _, tag := range e.Tags {
		fmt.Fprintf(&text, " %q", []string(tag))
	}
	return text.String()
}

func forms(events []nostr.Event) string {
	var text []string
	for _, e := range events {
		text = append(text, form(e))
	}
	return strings.Join(text, "\n     ")
}

// TestStoreIsTheModel saves events in any order, with versions and duplicates,
// reopens the store now and then, and compares the results of filters.
func TestStoreIsTheModel(t *testing.T) {
	race.Skip(t, "one goroutine writes and reads")
	rapid.Check(t, func(rt *rapid.T) {
		options := store.Options{Dir: t.TempDir()}
		s, err := store.Open(options)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { s.Close() }()
		m, drawn := newModel(), drawn{}
		for range rapid.IntRange(1, 4).Draw(rt, "rounds") {
			for range rapid.IntRange(1, 30).Draw(rt, "events") {
				e := drawn.event(rt)
				got, err := s.Save(t.Context(), &e)
				if want := m.save(e); got != want || err != nil {
					rt.Fatalf("%s: %v, %v, want %v", form(e), got, err, want)
				}
			}
			if rapid.IntRange(0, 3).Draw(rt, "reopen") == 0 {
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				if s, err = store.Open(options); err != nil {
					rt.Fatal(err)
				}
			}
			for range 5 {
				f, keys := drawFilter(rt), rapid.IntRange(1, 20).Draw(rt, "keys")
				want := m.query(f)
				same(rt, all(rt, s, f, keys), want, fmt.Sprintf("%+v in steps of %d", f, keys))
			}
		}
	})
}
