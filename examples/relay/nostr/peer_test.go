package nostr_test

import (
	"slices"
	"strings"
	"testing"

	gonostr "github.com/nbd-wtf/go-nostr"
	"pgregory.net/rapid"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// secret is the key that signs the events of the tests.
var secret = strings.Repeat("01", 32)

var peerNote = gonostr.Event{CreatedAt: 1_700_000_000, Kind: 1, Content: "hello"}

// signed returns an event that go-nostr signed and wrote.
func signed(t testing.TB, peer gonostr.Event) nostr.Event {
	t.Helper()
	if err := peer.Sign(secret); err != nil {
		t.Fatal(err)
	}
	text, err := peer.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	e, err := nostr.ParseEvent(text, nostr.Limits{})
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return e
}

// ofPeer converts an event to go-nostr's type, without its signature.
func ofPeer(e *nostr.Event) *gonostr.Event {
	tags := gonostr.Tags{}
	for _, tag := range e.Tags {
		tags = append(tags, gonostr.Tag(tag))
	}
	return &gonostr.Event{
		ID: e.ID.String(), PubKey: e.PubKey.String(), CreatedAt: gonostr.Timestamp(e.CreatedAt), Kind: e.Kind, Tags: tags, Content: e.Content,
	}
}

// text draws texts with characters that JSON escapes, characters that only some
// implementations escape, and characters outside ASCII.
var text = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
	"", "\"\\\n\r\t\b\f", "\x00\x01\x0b\x10\x19\x1a\x1f", "\x7f\u0080", "\u2028\u2029", "</script>&", "é こんにちは 🙂", "\ufffd", "/",
}))

func drawEvent(t *rapid.T) nostr.Event {
	return nostr.Event{
		PubKey:    nostr.PubKey{byte(rapid.IntRange(0, 2).Draw(t, "author"))},
		ID:        nostr.ID{byte(rapid.IntRange(0, 2).Draw(t, "id"))},
		CreatedAt: rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, 1<<53-1)).Draw(t, "created_at"),
		Kind:      rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 65535)).Draw(t, "kind"),
		Tags: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) nostr.Tag {
			return rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"e", "p", "t", "ee", "x"}), text), 0, 3).Draw(t, "tag")
		}), 0, 4).Draw(t, "tags"),
		Content: text.Draw(t, "content"),
	}
}

func TestAPeersEventsAreGenuine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		drawn := drawEvent(t)
		peer := ofPeer(&drawn)
		if err := peer.Sign(secret); err != nil {
			t.Fatal(err)
		}
		text, err := peer.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		e, err := nostr.ParseEvent(text, nostr.Limits{})
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if err := e.Verify(); err != nil || e.ID.String() != peer.ID {
			t.Fatalf("%v: %s", err, text)
		}
	})
}

func TestAPeerReadsOurEvents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		e.ID = e.Hash()
		if peer := ofPeer(&e); peer.GetID() != e.ID.String() {
			t.Fatalf("hash %s, want %s", e.ID, peer.GetID())
		}
		var peer gonostr.Event
		if err := peer.UnmarshalJSON(e.AppendJSON(nil)); err != nil || peer.GetID() != e.ID.String() {
			t.Fatalf("%v: %s", err, e.AppendJSON(nil))
		}
	})
}

// The differences listed in the package comment.
func TestAPeerReadsWhatWeRefuse(t *testing.T) {
	for name, text := range map[string]string{
		"null":       event("content", "null"),
		"twice":      with(`"content":"other"`),
		"upper case": event("id", `"`+strings.ToUpper(id)+`"`),
		"surrogate":  event("content", `"\ud800"`),
	} {
		var peer gonostr.Event
		if err := peer.UnmarshalJSON([]byte(text)); err != nil {
			t.Errorf("%s: go-nostr: %v", name, err)
		}
		if _, err := nostr.ParseEvent([]byte(text), nostr.Limits{}); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

func TestAnEventComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		written := e.AppendJSON(nil)
		again, err := nostr.ParseEvent(written, nostr.Limits{})
		if err != nil {
			t.Fatalf("%v: %s", err, written)
		}
		if !slices.EqualFunc(again.Tags, e.Tags, slices.Equal[nostr.Tag]) {
			t.Fatalf("tags %q, want %q", again.Tags, e.Tags)
		}
		if string(again.AppendJSON(nil)) != string(written) || again.Hash() != e.Hash() {
			t.Fatalf("%s, want %s", again.AppendJSON(nil), written)
		}
	})
}

func TestAFilterMatchesWhatAPeerMatches(t *testing.T) {
	few := func(t *rapid.T, label string) []int {
		if rapid.Bool().Draw(t, "no "+label) {
			return nil
		}
		return rapid.SliceOfN(rapid.IntRange(0, 2), 0, 3).Draw(t, label)
	}
	matched := 0
	rapid.Check(t, func(t *rapid.T) {
		peer := gonostr.Filter{Kinds: few(t, "kinds"), Tags: gonostr.TagMap{}}
		for _, i := range few(t, "ids") {
			peer.IDs = append(peer.IDs, nostr.ID{byte(i)}.String())
		}
		for _, i := range few(t, "authors") {
			peer.Authors = append(peer.Authors, nostr.PubKey{byte(i)}.String())
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"e", "p"}), 0, 2, rapid.ID[string]).Draw(t, "tags") {
			peer.Tags[name] = rapid.SliceOfN(rapid.SampledFrom([]string{"", "e", "p", "t"}), 1, 2).Draw(t, name)
		}
		for name, bound := range map[string]**gonostr.Timestamp{"since": &peer.Since, "until": &peer.Until} {
			if at := rapid.Int64Range(-1, 5).Draw(t, name); rapid.Bool().Draw(t, "has "+name) {
				*bound = (*gonostr.Timestamp)(&at)
			}
		}
		written := peer.String() // it leaves out empty lists
		f, err := nostr.ParseFilter([]byte(written), nostr.Limits{})
		if err != nil {
			t.Fatalf("%v: %s", err, written)
		}
		peer = gonostr.Filter{}
		if err := peer.UnmarshalJSON([]byte(written)); err != nil {
			t.Fatal(err)
		}
		e := drawEvent(t)
		if got, want := f.Matches(&e), peer.Matches(ofPeer(&e)); got != want {
			t.Fatalf("%v, want %v: %s on %s", got, want, written, e.AppendJSON(nil))
		} else if got {
			matched++
		}
	})
	if matched == 0 {
		t.Error("no filter matched")
	}
}
