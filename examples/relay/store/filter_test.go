package store_test

import (
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/store"
)

func event(n, author int, created nostr.Timestamp, kind int, tags ...nostr.Tag) nostr.Event {
	return nostr.Event{ID: idOf(n), PubKey: authorOf(author), CreatedAt: created, Kind: kind, Tags: tags}
}

// numbers returns the numbers of events made by idOf.
func numbers(events []nostr.Event) string {
	var text []string
	for _, e := range events {
		text = append(text, strings.TrimLeft(e.ID[:2], "0"))
	}
	return strings.Join(text, " ")
}

func TestFilters(t *testing.T) {
	s := open(t, store.Options{Dir: t.TempDir()})
	x := func(letter string) nostr.Tag { return nostr.Tag{letter, "x"} }
	for _, e := range []nostr.Event{
		event(1, 1, 10, 1, x("t")), event(2, 2, 20, 7, x("t"), x("r")), event(3, 1, 20, 1, x("r"), nostr.Tag{"r", "y"}), event(4, 2, 30, 1),
	} {
		save(t, s, e, store.Saved)
	}
	one, both := []string{authorOf(1)}, []string{authorOf(1), authorOf(2)}
	for _, test := range []struct {
		f    nostr.Filter
		want string
	}{
		{nostr.Filter{}, "4 2 3 1"},
		{nostr.Filter{Since: at(20)}, "4 2 3"},
		{nostr.Filter{Since: at(21)}, "4"},
		{nostr.Filter{Until: at(20)}, "2 3 1"},
		{nostr.Filter{Until: at(19)}, "1"},
		{nostr.Filter{Since: at(20), Until: at(20), Authors: both}, "2 3"},
		{nostr.Filter{IDs: manyIDs(5), Since: at(11), Until: at(29)}, "2 3"},
		{nostr.Filter{IDs: []string{idOf(1), idOf(4), idOf(1)}}, "4 1"},
		{nostr.Filter{IDs: manyIDs(5), Kinds: []int{7}}, "2"},
		{nostr.Filter{Authors: both, Kinds: []int{1, 7, 7}}, "4 2 3 1"},
		{nostr.Filter{Authors: one, Tags: nostr.TagMap{"r": {"x", "y"}}}, "3"},
		{nostr.Filter{Authors: both, Tags: nostr.TagMap{"r": {"x"}, "t": {"x"}}}, "2"},
		{nostr.Filter{Tags: nostr.TagMap{"r": {"x", "y"}}}, "2 3"},
		{nostr.Filter{Tags: nostr.TagMap{"t": {"x"}}}, "2 1"},
		{nostr.Filter{Tags: nostr.TagMap{"t": {"x"}}, Kinds: []int{1}}, "1"},
		{nostr.Filter{Tags: nostr.TagMap{"t": {}}}, ""},
		{nostr.Filter{Authors: []string{}}, ""},
	} {
		f := test.f
		f.Limit = -1
		if got := numbers(all(t, s, f, 3)); got != test.want {
			t.Errorf("%+v finds %q, want %q", test.f, got, test.want)
		}
		n := len(strings.Fields(test.want))
		if f.Limit = min(n, 2); n > 0 {
			if got, want := numbers(all(t, s, f, 3)), strings.Join(strings.Fields(test.want)[:f.Limit], " "); got != want {
				t.Errorf("%+v finds %q, want %q", f, got, want)
			}
		}
	}
}
