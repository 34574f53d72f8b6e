package protocol_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/internal/must"
)

var (
	id  = strings.Repeat("ab", 32)
	key = strings.Repeat("cd", 32)
	sig = strings.Repeat("ef", 64)
)

// event returns a well-formed event with a field replaced or removed.
func event(field, value string) string {
	fields := [][2]string{
		{"id", `"` + id + `"`},
		{"pubkey", `"` + key + `"`},
		{"created_at", "1700000000"},
		{"kind", "1"},
		{"tags", "[]"},
		{"content", `""`},
		{"sig", `"` + sig + `"`},
	}
	var written []string
	for _, f := range fields {
		if f[0] == field {
			f[1] = value
		}
		if f[1] != "" {
			written = append(written, `"`+f[0]+`":`+f[1])
		}
	}
	return "{" + strings.Join(written, ",") + "}"
}

// TestRefusals checks the answer to each malformed message.
func TestRefusals(t *testing.T) {
	const closed, notice = `["CLOSED","s","invalid: `, `["NOTICE","invalid: `
	ok := `["OK","` + id + `",false,"invalid: `
	const digits = `want an id and a pubkey of 64, and a sig of 128 lower-case hexadecimal digits"]`
	for message, answer := range map[string]string{
		// The form of a message.
		"[\"CLOSE\",\"\xff\"]": notice + `the text is not UTF-8"]`,
		``:                     notice + `want a JSON array: `,
		`{}`:                   notice + `want a JSON array: `,
		`["CLOSE","s"]x`:       notice + `want a JSON array: `,
		`[]`:                   notice + `the message is empty: want EVENT, REQ, COUNT or CLOSE"]`,
		`[1]`:                  notice + `unknown message \"\": want EVENT, REQ, COUNT or CLOSE"]`,
		`["HELLO\u0000"]`:      notice + `unknown message \"HELLO\\x00\": want EVENT, REQ, COUNT or CLOSE"]`,
		`["CLOSE"]`:            notice + `CLOSE without a subscription"]`,
		`["COUNT",1,{}]`:       notice + `the subscription is no text"]`,
		`["REQ","",{}]`:        notice + `the subscription has 0 characters: want 1 to 64"]`,
		`["EVENT"]`:            notice + `EVENT with 0 elements: want an event"]`,
		`["EVENT","id"]`:       notice + `the event cannot be read: `,
		`["REQ","s"]`:          closed + `0 filters: want 1 to 10"]`,
		`["COUNT","s"` + strings.Repeat(`,{}`, 11) + `]`:  closed + `11 filters: want 1 to 10"]`,
		`["REQ","` + strings.Repeat("ä", 65) + `",{}]`:    notice + `the subscription has 65 characters: want 1 to 64"]`,
		`["REQ","s",` + strings.Repeat("[", 20_000) + `]`: notice + `want a JSON array: `,

		// Filters.
		`["REQ","s",[]]`:             closed + `a filter cannot be read: `,
		`["REQ","s",{"ids":["ab"]}]`: closed + `want ids and authors of 64 lower-case hexadecimal digits"]`,
		`["REQ","s",{"authors":["` + strings.ToUpper(key) + `"]}]`:              closed + `want ids and authors of 64 lower-case hexadecimal digits"]`,
		`["REQ","s",{"kinds":[1,65536]}]`:                                       closed + `want kinds from 0 to 65535"]`,
		`["REQ","s",{"kinds":[-1]}]`:                                            closed + `want kinds from 0 to 65535"]`,
		`["REQ","s",{"kinds":["1"]}]`:                                           closed + `a filter cannot be read: `,
		`["REQ","s",{"since":1.5}]`:                                             closed + `a filter cannot be read: `,
		`["REQ","s",{"#ee":[]}]`:                                                closed + `\"#ee\": only tags of a single letter are indexed"]`,
		`["REQ","s",{"#1":[]}]`:                                                 closed + `\"#1\": only tags of a single letter are indexed"]`,
		`["REQ","s",{"kinds":[1],"#e":[""` + strings.Repeat(`,""`, 999) + `]}]`: closed + `1001 values in a filter: want at most 1000"]`,

		// Events.
		`["EVENT",` + event("sig", "") + `]`:                                          ok + digits,
		`["EVENT",` + event("id", `"ab"`) + `]`:                                       notice + digits,
		`["EVENT",` + event("pubkey", `"`+strings.ToUpper(key)+`"`) + `]`:             ok + digits,
		`["EVENT",` + event("created_at", "1.7e9") + `]`:                              ok + `the event cannot be read: `,
		`["EVENT",` + event("kind", "65536") + `]`:                                    ok + `kind 65536: want 0 to 65535"]`,
		`["EVENT",` + event("kind", "-1") + `]`:                                       ok + `kind -1: want 0 to 65535"]`,
		`["EVENT",` + event("tags", `[["a",["b"]]]`) + `]`:                            ok + `the event cannot be read: `,
		`["EVENT",` + event("tags", `[["",""]`+strings.Repeat(`,[]`, 9999)+`]`) + `]`: ok + `10001 values in all tags: want at most 10000"]`,
	} {
		m, err := protocol.ParseMessage([]byte(message))
		var refused *protocol.ParseError
		if !errors.As(err, &refused) || m != nil {
			t.Errorf("%.300s: %v, %v", message, m, err)
		} else if !strings.HasPrefix(string(refused.Answer), answer) {
			t.Errorf("%.300s:\n got %s\nwant %s", message, refused.Answer, answer)
		}
	}
}

// TestMessages reads the messages of a client of go-nostr.
func TestMessages(t *testing.T) {
	e := signed(t, note)
	closing := nostr.CloseEnvelope("s")
	filters := nostr.Filters{{Kinds: []int{1}, Limit: 10}, {Limit: 1000}, {LimitZero: true}, {}}
	kinds := []int{1}
	for _, test := range []struct{ sent, want nostr.Envelope }{
		{&nostr.EventEnvelope{Event: e}, &nostr.EventEnvelope{Event: e}},
		{&closing, &closing},
		{
			&nostr.ReqEnvelope{SubscriptionID: "s", Filters: filters},
			&nostr.ReqEnvelope{SubscriptionID: "s", Filters: nostr.Filters{{Kinds: kinds, Limit: 10}, {Limit: 500}, {LimitZero: true}, {Limit: 500}}},
		},
		{
			&nostr.CountEnvelope{SubscriptionID: "s", Filters: filters},
			&nostr.CountEnvelope{SubscriptionID: "s", Filters: nostr.Filters{{Kinds: kinds}, {}, {}, {}}},
		},
	} {
		text := must.Have(test.sent.MarshalJSON())(t)
		m := must.Have(protocol.ParseMessage(text))(t)
		got, want := must.Have(m.MarshalJSON())(t), must.Have(test.want.MarshalJSON())(t)
		if !bytes.Equal(got, want) {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
}

// FuzzParseMessage checks that accepted text is JSON, that an event has the same hash when it is
// sent on, and that go-nostr reads the answer to what is refused.
func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`["EVENT",` + event("", "") + `]`, `["REQ","s",{"kinds":[1]},{}]`,
		`["EVENT",` + event("content", `"a\"\\\/\b\f\n\r\té😀\ud83d\ude00\ud800\u0001"`) + `]`,
		`["COUNT","s",{}]`, `["CLOSE","s"]`, `["EVENT",{"id":"` + id + `"}]`, `["REQ","s",{"#ab":[]}]`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := protocol.ParseMessage(text)
		switch refused := (*protocol.ParseError)(nil); {
		case err == nil:
			if !json.Valid(text) {
				t.Fatalf("%q is not JSON", text)
			}
			if e, ok := m.(*nostr.EventEnvelope); ok {
				again, err := protocol.ParseMessage(sent(&e.Event))
				if err != nil || again.(*nostr.EventEnvelope).GetID() != e.GetID() {
					t.Fatalf("%v: %+v became %+v", err, e, again)
				}
			}
		case m != nil || !errors.As(err, &refused):
			t.Fatalf("%v, %v", m, err)
		case nostr.ParseMessage(refused.Answer) == nil:
			t.Fatalf("answer %s", refused.Answer)
		}
	})
}

func ExampleParseMessage() {
	for _, text := range []string{`["REQ","feed",{"kinds":[1],"limit":20}]`, `["REQ","feed",{"kinds":[-1]}]`} {
		m, err := protocol.ParseMessage([]byte(text))
		var refused *protocol.ParseError
		switch {
		case errors.As(err, &refused):
			fmt.Printf("%s\n", refused.Answer)
		default:
			fmt.Println(m)
		}
	}
	// Output:
	// [{"kinds":[1],"limit":20}]
	// ["CLOSED","feed","invalid: want kinds from 0 to 65535"]
}
