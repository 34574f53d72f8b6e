package nostr_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"

	gonostr "github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// Accepted text is JSON, and a peer reads the same event from it.
func FuzzParseEvent(f *testing.F) {
	f.Add([]byte(event("", "")))
	f.Add([]byte(event("tags", `[["e","`+id+`"],[],["p"]]`)))
	f.Add([]byte(event("content", `"a\"\\\/\b\f\n\r\té😀\ud83d\ude00\u0001"`)))
	f.Add([]byte(with(`"other":[{"a":-1.5e+3},true,false,null,"\u00e9"]`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := nostr.ParseEvent(text, nostr.Limits{})
		if err != nil {
			isReason(t, err.Error())
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		written := e.AppendJSON(nil)
		again, err := nostr.ParseEvent(written, nostr.Limits{Message: len(written), Content: len(written)})
		if err != nil || !reflect.DeepEqual(again, e) {
			t.Fatalf("%v: %s, from %q", err, written, text)
		}
		// The peer reads our rewritten event, because the original may have unknown
		// fields, and go-nostr cannot decode some of them.
		var peer gonostr.Event
		if err := peer.UnmarshalJSON(written); err != nil || peer.GetID() != e.Hash().String() {
			t.Fatalf("%v: %s, from %q", err, written, text)
		}
	})
}

// Accepted text is JSON, and a peer reads an equivalent filter from it.
func FuzzParseFilter(f *testing.F) {
	f.Add([]byte(`{}`), []byte(event("", "")))
	f.Add([]byte(`{"ids":["`+id+`"],"authors":["`+key+`"],"kinds":[1,0],"since":-1,"until":1800000000,"limit":0}`), []byte(event("", "")))
	f.Add([]byte(`{"#e":["a","b"],"#P":[],"search":"x"}`), []byte(event("tags", `[["e","a"]]`)))
	f.Fuzz(func(t *testing.T, text, event []byte) {
		filter, err := nostr.ParseFilter(text, nostr.Limits{})
		if err != nil {
			isReason(t, err.Error())
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON", text)
		}
		if filter.Limit < 0 || filter.Limit > 500 || filter.Since < 0 {
			t.Fatalf("%+v", filter)
		}
		e, err := nostr.ParseEvent(event, nostr.Limits{})
		if err != nil {
			return
		}
		var peer gonostr.Filter
		if err := peer.UnmarshalJSON(text); err != nil {
			return // it decodes values of unknown fields, some of which it cannot
		}
		if got, want := filter.Matches(&e), peer.Matches(ofPeer(&e)); got != want {
			t.Fatalf("%v, want %v: %s on %s", got, want, text, event)
		}
	})
}

// Every message is parsed, or answered with a message of the relay.
func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`["EVENT",` + event("", "") + `]`, `["AUTH",` + event("kind", "22242") + `]`, `["REQ","s",{"kinds":[1]},{}]`,
		`["COUNT","s",{}]`, `["CLOSE","s"]`, `["EVENT",{"id":"` + id + `"}]`, `["REQ","s",{"#ab":[]}]`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := nostr.ParseMessage(text, nostr.Limits{})
		if (m == nil) == (err == nil) {
			t.Fatalf("%v, %v", m, err)
		}
		if err == nil {
			if !json.Valid(text) {
				t.Fatalf("%q is not JSON", text)
			}
			return
		}
		var refused *nostr.ParseError
		if !errors.As(err, &refused) {
			t.Fatalf("%T", err)
		}
		isReason(t, refused.Reason)
		answer := refused.AppendAnswer(nil)
		if !json.Valid(answer) || gonostr.ParseMessage(answer) == nil {
			t.Fatalf("answer %s", answer)
		}
	})
}
