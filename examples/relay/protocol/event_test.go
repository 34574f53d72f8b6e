package protocol_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/nbd-wtf/go-nostr"
	"pgregory.net/rapid"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// secret is the key that signs the events of the tests.
var secret = strings.Repeat("01", 32)

var note = nostr.Event{CreatedAt: 1_700_000_000, Kind: 1, Content: "hello"}

// signed returns an event that go-nostr signed and wrote.
func signed(t interface{ Fatal(...any) }, e nostr.Event) nostr.Event {
	if err := e.Sign(secret); err != nil {
		t.Fatal(err)
	}
	text, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	e, err = parseEvent(string(text))
	if err != nil {
		t.Fatal(err, string(text))
	}
	return e
}

// parseEvent reads an event as a client sends it.
func parseEvent(text string) (nostr.Event, error) {
	m, err := protocol.ParseMessage([]byte(`["EVENT",` + text + `]`))
	if err != nil {
		return nostr.Event{}, err
	}
	return m.(*nostr.EventEnvelope).Event, nil
}

// numbered returns an ID, or the key of an author.
func numbered(n int) string { return fmt.Sprintf("%064x", n) }

// text draws texts with characters that JSON escapes, characters that only some
// implementations escape, and characters outside ASCII.
var text = rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
	"", "\"\\\n\r\t\b\f", "\x00\x01\x0b\x10\x19\x1a\x1f", "\x7f\u0080", "\u2028\u2029", "</script>&", "é こんにちは 🙂", "\ufffd", "/",
}))

func drawEvent(t *rapid.T) nostr.Event {
	return nostr.Event{
		ID: numbered(rapid.IntRange(0, 2).Draw(t, "id")), PubKey: numbered(rapid.IntRange(0, 2).Draw(t, "author")), Sig: sig,
		CreatedAt: nostr.Timestamp(rapid.OneOf(rapid.Int64Range(1, 5), rapid.Int64Range(1, 1<<53-1)).Draw(t, "created_at")),
		Kind:      rapid.OneOf(rapid.IntRange(0, 3), rapid.IntRange(0, 65535)).Draw(t, "kind"),
		Tags: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) nostr.Tag {
			return rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"e", "p", "t", "ee", "x"}), text), 0, 3).Draw(t, "tag")
		}), 0, 4).Draw(t, "tags"),
		Content: text.Draw(t, "content"),
	}
}

// TestEventsOfGoNostr checks that an event of go-nostr is read as it was signed, and that
// go-nostr and this package read the text that is sent on.
func TestEventsOfGoNostr(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawEvent(t)
		e := signed(t, want)
		if err := protocol.Verify(&e); err != nil || e.Content != want.Content || e.Kind != want.Kind {
			t.Fatalf("%v: %v", err, e)
		}
		written := protocol.EventJSON(&e)
		again, err := parseEvent(string(written))
		if err != nil || !json.Valid(written) || !reflect.DeepEqual(again, e) {
			t.Fatalf("%v: %s", err, written)
		}
		var peer nostr.Event
		if err := peer.UnmarshalJSON(written); err != nil || peer.GetID() != e.ID {
			t.Fatalf("%v: %s", err, written)
		}
	})
}

// FuzzEvents checks that accepted text is JSON, and that go-nostr reads the same event.
func FuzzEvents(f *testing.F) {
	f.Add(event("", ""))
	f.Add(event("tags", `[["e","`+id+`"],[],["p"]]`))
	f.Add(event("content", `"a\"\\\/\b\f\n\r\té😀\ud83d\ude00\u0001"`))
	f.Add(with(`"other":[{"a":-1.5e+3},true,false,null,"\u00e9"]`))
	f.Fuzz(func(t *testing.T, text string) {
		e, err := parseEvent(text)
		if err != nil {
			return
		}
		if !json.Valid([]byte(text)) {
			t.Fatalf("%q is not JSON", text)
		}
		written := protocol.EventJSON(&e)
		again, err := parseEvent(string(written))
		if len(written) > protocol.MaxMessage-100 {
			return // escaped, it is longer
		}
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%v: %s, from %q", err, written, text)
		}
		var peer nostr.Event
		if err := peer.UnmarshalJSON(written); err != nil || peer.GetID() != e.GetID() {
			t.Fatalf("%v: %s, from %q", err, written, text)
		}
	})
}

func TestWholePairsAndTagsBesideOneAnotherAreRead(t *testing.T) {
	tags := strings.Repeat(`["t","[["],`, 20)
	e, err := parseEvent(event("tags", `[`+tags+`["t","\"\ud83d\ude00\ud83d\ude00["]]`))
	if last := len(e.Tags) - 1; err != nil || last != 20 || e.Tags[last][1] != `"😀😀[` {
		t.Errorf("%v, %v", e.Tags, err)
	}
	half, err := parseEvent(event("content", `"a\ud800"`))
	if err != nil || half.Content != "a\ufffd" {
		t.Errorf("half of a pair is read as %q, %v", half.Content, err)
	}
}

func TestVerify(t *testing.T) {
	genuine := signed(t, note)
	const hash, signature = "invalid: the id is not the hash of the event", "invalid: the signature is not that of the author"
	for name, test := range map[string]struct {
		forge func(*nostr.Event)
		want  string
	}{
		"genuine":       {func(*nostr.Event) {}, ""},
		"content":       {func(e *nostr.Event) { e.Content += "!" }, hash},
		"id":            {func(e *nostr.Event) { e.ID = id }, hash},
		"signature":     {func(e *nostr.Event) { e.Sig = sig }, signature},
		"another's":     {func(e *nostr.Event) { e.PubKey = key; e.ID = e.GetID() }, signature},
		"no key":        {func(e *nostr.Event) { e.PubKey = numbered(0); e.ID = e.GetID() }, signature},
		"changed later": {func(e *nostr.Event) { e.Content = ""; e.ID = e.GetID() }, signature},
	} {
		e := genuine
		test.forge(&e)
		if got := errorText(protocol.Verify(&e)); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCheckTime(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for ahead, want := range map[time.Duration]string{
		-time.Hour:                   "",
		15 * time.Minute:             "",
		15*time.Minute + time.Second: "invalid: created_at is more than 15m0s in the future",
	} {
		e := nostr.Event{CreatedAt: nostr.Timestamp(now.Add(ahead).Unix())}
		if got := errorText(protocol.CheckTime(&e, now)); got != want {
			t.Errorf("%v ahead: %q, want %q", ahead, got, want)
		}
	}
}

// TestEncode reads the messages of the relay with go-nostr.
func TestEncode(t *testing.T) {
	e := signed(t, note)
	reason := protocol.Reason(protocol.RateLimited, "come back in %d s: \"%s\"", 2, "é\n<")
	count, subscription := int64(7), "s\\1\""
	notice, eose := nostr.NoticeEnvelope(reason), nostr.EOSEEnvelope(subscription)
	for _, test := range []struct {
		written []byte
		want    nostr.Envelope
	}{
		{protocol.Encode("EOSE", subscription), &eose},
		{protocol.Encode("OK", e.ID, true, ""), &nostr.OKEnvelope{EventID: e.ID, OK: true}},
		{protocol.Encode("OK", e.ID, false, reason), &nostr.OKEnvelope{EventID: e.ID, Reason: reason}},
		{protocol.Encode("NOTICE", reason), &notice},
		{protocol.Encode("CLOSED", subscription, reason), &nostr.ClosedEnvelope{SubscriptionID: subscription, Reason: reason}},
		{protocol.Encode("COUNT", subscription, map[string]int{"count": 7}), &nostr.CountEnvelope{SubscriptionID: subscription, Count: &count}},
	} {
		if got := nostr.ParseMessage(test.written); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s is read as %+v, want %+v", test.written, got, test.want)
		}
	}
	written := protocol.EventMessage(subscription, protocol.EventJSON(&e))
	got, ok := nostr.ParseMessage(written).(*nostr.EventEnvelope)
	if !ok || *got.SubscriptionID != subscription || got.GetID() != e.ID || !json.Valid(written) {
		t.Errorf("%s is read as %+v", written, got)
	}
}

func ExampleVerify() {
	const genuine = `{"id":"07d9b0155ee687c97298aa8cb1b107e88408c711a71ecd02f1bca7ac14dd0c9c","pubkey":"1b84c5567b126440995d3ed5aaba0565d71e1834604819ff9c17f5e9d5dd078f","created_at":1700000000,"kind":1,"tags":[["t","weir"]],"content":"hello","sig":"c456ad86c57ab1ef5298662c81c55967a22899a61c1bf1d69d41cc8eb45b89301f08427466b185faf03405d5c2fc8fcf548062dd489f64be1dddbc405a120867"}`
	m, err := protocol.ParseMessage([]byte(`["EVENT",` + genuine + `]`))
	if err != nil {
		fmt.Println(err)
		return
	}
	e := m.(*nostr.EventEnvelope).Event
	fmt.Println(e.Content, protocol.Verify(&e))
	e.Content = "something else"
	fmt.Println(protocol.Verify(&e))
	// Output:
	// hello <nil>
	// invalid: the id is not the hash of the event
}
