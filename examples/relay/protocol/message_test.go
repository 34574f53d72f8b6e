package protocol_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
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

// many returns the text of an array of values.
func many(n int, value string) string {
	return "[" + strings.TrimSuffix(strings.Repeat(value+",", n), ",") + "]"
}

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

func with(field string) string { return strings.TrimSuffix(event("", ""), "}") + "," + field + "}" }

// TestRefusals checks the answer to each malformed message.
func TestRefusals(t *testing.T) {
	const closed, notice = `["CLOSED","s","`, `["NOTICE","`
	ok := `["OK","` + id + `",false,"`
	for _, test := range []struct{ message, answer string }{
		// Text that is no JSON, or too much.
		{``, notice + `invalid: the text is not JSON"]`},
		{`["CLOSE","s"]x`, notice + `invalid: the text is not JSON"]`},
		{`["CLOSE","s",]`, notice + `invalid: the text is not JSON"]`},
		{"[\"CLOSE\",\"a\nb\"]", notice + `invalid: the text is not JSON"]`},
		{`["REQ","s",{"other":01}]`, notice + `invalid: the text is not JSON"]`},
		{"[\"CLOSE\",\"\xff\"]", notice + `invalid: the text is not UTF-8"]`},
		{`["CLOSE","` + strings.Repeat("s", 128<<10) + `"]`, notice + `invalid: 131084 bytes, where at most 131072 are allowed"]`},
		{
			`["REQ","s",{"other":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}]`,
			notice + `invalid: the text is not JSON"]`,
		},

		// The form of a message.
		{` {}`, notice + `invalid: want an array"]`},
		{`[]`, notice + `invalid: the message is empty: want EVENT, REQ, COUNT or CLOSE"]`},
		{`[1]`, notice + `invalid: want a string"]`},
		{`["HELLO\u0000"]`, notice + `invalid: unknown message \"HELLO\\x00\": want EVENT, REQ, COUNT or CLOSE"]`},
		{`["CLOSE"]`, notice + `invalid: CLOSE without a subscription"]`},
		{`["CLOSE","s","s"]`, notice + `invalid: want nothing after the subscription"]`},
		{`["REQ"]`, notice + `invalid: REQ without a subscription"]`},
		{`["EVENT"]`, notice + `invalid: EVENT without an event"]`},
		{`["EVENT","id"]`, notice + `invalid: want an object"]`},
		{`["EVENT",` + event("", "") + `,{}]`, ok + `invalid: want nothing after the event"]`},
		{`["REQ","",{}]`, notice + `invalid: the subscription has 0 characters: want 1 to 64"]`},
		{`["REQ","` + strings.Repeat("ä", 65) + `",{}]`, notice + `invalid: the subscription has 65 characters: want 1 to 64"]`},
		{`["COUNT",1,{}]`, notice + `invalid: want a string"]`},
		{`["REQ","s"]`, closed + `invalid: REQ without a filter"]`},
		{`["COUNT","s"]`, closed + `invalid: COUNT without a filter"]`},
		{`["REQ","s"` + strings.Repeat(",{}", 11) + `]`, closed + `invalid: more than 10 filters"]`},

		// Filters.
		{`["REQ","s",[]]`, closed + `invalid: want an object"]`},
		{`["REQ","s",{"ids":null}]`, closed + `invalid: \"ids\": want an array"]`},
		{`["REQ","s",{"ids":["ab"]}]`, closed + `invalid: \"ids\": want 64 lower-case hexadecimal digits"]`},
		{`["REQ","s",{"authors":["` + strings.ToUpper(key) + `"]}]`, closed + `invalid: \"authors\": want 64 lower-case hexadecimal digits"]`},
		{`["REQ","s",{"kinds":[1,65536]}]`, closed + `invalid: \"kinds\": want an integer from 0 to 65535"]`},
		{`["REQ","s",{"kinds":["1"]}]`, closed + `invalid: \"kinds\": want an integer from 0 to 65535"]`},
		{`["REQ","s",{"since":1.5}]`, closed + `invalid: \"since\": want an integer from -9223372036854775808 to 9223372036854775807"]`},
		{`["REQ","s",{"until":9223372036854775808}]`, closed + `invalid: \"until\": want an integer from -9223372036854775808 to 9223372036854775807"]`},
		{`["REQ","s",{"limit":-1}]`, closed + `invalid: \"limit\": want an integer from 0 to 9223372036854775807"]`},
		{`["REQ","s",{"limit":1,"limit":1}]`, closed + `invalid: \"limit\": the field is there twice"]`},
		{`["REQ","s",{"#e":[],"#\u0065":[]}]`, closed + `invalid: \"#e\": the field is there twice"]`},
		{`["REQ","s",{"#e":["a"],"#p":` + many(1000, `"a"`) + `}]`, closed + `invalid: \"#p\": more than 1000 values in a filter"]`},
		{`["REQ","s",{"#e":[1]}]`, closed + `invalid: \"#e\": want a string"]`},
		{`["REQ","s",{"#ee":[]}]`, closed + `invalid: \"#ee\": only tags of a single letter are indexed"]`},
		{`["REQ","s",{"#1":[]}]`, closed + `invalid: \"#1\": only tags of a single letter are indexed"]`},
		{`["REQ","s",{"#":[]}]`, closed + `invalid: \"#\": only tags of a single letter are indexed"]`},

		// Events.
		{`["EVENT",` + event("sig", "") + `]`, ok + `invalid: the event has no field \"sig\""]`},
		{`["EVENT",` + event("id", "") + `]`, notice + `invalid: the event has no field \"id\""]`},
		{`["EVENT",` + event("id", `"ab"`) + `]`, notice + `invalid: \"id\": want 64 lower-case hexadecimal digits"]`},
		{`["EVENT",` + event("pubkey", `"ab"`) + `]`, ok + `invalid: \"pubkey\": want 64 lower-case hexadecimal digits"]`},
		{`["EVENT",` + event("created_at", "0") + `]`, ok + `invalid: \"created_at\": want an integer from 1 to 9007199254740991"]`},
		{`["EVENT",` + event("created_at", "1.7e9") + `]`, ok + `invalid: \"created_at\": want an integer from 1 to 9007199254740991"]`},
		{`["EVENT",` + event("kind", "65536") + `]`, ok + `invalid: \"kind\": want an integer from 0 to 65535"]`},
		{`["EVENT",` + event("kind", `"1"`) + `]`, ok + `invalid: \"kind\": want an integer from 0 to 65535"]`},
		{`["EVENT",` + event("tags", "null") + `]`, ok + `invalid: \"tags\": want an array"]`},
		{`["EVENT",` + event("tags", "[1]") + `]`, ok + `invalid: \"tags\": want an array"]`},
		{`["EVENT",` + event("tags", `[["a",["b"]]]`) + `]`, ok + `invalid: \"tags\": want a string"]`},
		{`["EVENT",` + event("tags", many(2001, "[]")) + `]`, ok + `invalid: \"tags\": more than 2000 tags"]`},
		{`["EVENT",` + event("tags", many(1001, many(10, `""`))) + `]`, ok + `invalid: \"tags\": more than 10000 values in all tags"]`},
		{`["EVENT",` + event("content", `"`+strings.Repeat("x", 64<<10+1)+`"`) + `]`, ok + `invalid: \"content\": 65537 bytes, where at most 65536 are allowed"]`},
		{`["EVENT",` + event("content", "null") + `]`, ok + `invalid: \"content\": want a string"]`},
		{`["EVENT",` + event("sig", `"`+id+`"`) + `]`, ok + `invalid: \"sig\": want 128 lower-case hexadecimal digits"]`},
		{`["EVENT",` + with(`"kind":1`) + `]`, ok + `invalid: \"kind\": the field is there twice"]`},
		{`["EVENT",` + with(`"\u0069d":"`+id+`"`) + `]`, ok + `invalid: \"id\": the field is there twice"]`},
	} {
		m, err := protocol.ParseMessage([]byte(test.message))
		var refused *protocol.ParseError
		if !errors.As(err, &refused) || m != nil {
			t.Errorf("%.200s: %v, %v", test.message, m, err)
		} else if string(refused.Answer) != test.answer {
			t.Errorf("%.200s:\n got %s\nwant %s", test.message, refused.Answer, test.answer)
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
		if got, err := protocol.ParseMessage(text); err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s is read as %+v, %v, want %+v", text, got, err, test.want)
		}
	}
}

// TestMemoryOfMessages parses messages of the largest size that the limits allow, filled with
// the elements that take the most memory for their length.
func TestMemoryOfMessages(t *testing.T) {
	fill := func(start, part, end string) []byte {
		n := (protocol.MaxMessage - len(start) - len(end)) / len(part)
		return []byte(start + strings.Repeat(part, n) + end)
	}
	before, after, _ := strings.Cut(event("tags", "[$]"), "$")
	for name, text := range map[string][]byte{
		"empty tags":     fill(`["EVENT",`+before, `[],`, `[]`+after+`]`),
		"empty values":   fill(`["EVENT",`+before+`[`, `"",`, `""]`+after+`]`),
		"escapes":        fill(`["EVENT",`+before+`["`, `\n`, `"]`+after+`]`),
		"escaped values": fill(`["EVENT",`+before+`[`, `"\n",`, `""]`+after+`]`),
		"filters":        fill(`["REQ","s",`, `{},`, `{}]`),
		"kinds":          fill(`["REQ","s",{"kinds":[`, `1,`, `1]}]`),
		"tag conditions": fill(`["REQ","s",{"#a":[`, `"",`, `""]}]`),
		"unknown fields": fill(`["REQ","s",{`, `"\n":1,`, `"":1}]`),
		"nesting":        fill(`["REQ","s",{"x":`, `[`, ``),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		protocol.ParseMessage(text)
		runtime.ReadMemStats(&after)
		taken := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %.1f times its length", name, float64(taken)/float64(len(text)))
		if taken > 5*uint64(len(text)) {
			t.Errorf("%s: %d bytes for a message of %d", name, taken, len(text))
		}
	}
}

func FuzzParseMessage(f *testing.F) {
	for _, seed := range []string{
		`["EVENT",` + event("", "") + `]`, `["REQ","s",{"kinds":[1]},{}]`,
		`["COUNT","s",{}]`, `["CLOSE","s"]`, `["EVENT",{"id":"` + id + `"}]`, `["REQ","s",{"#ab":[]}]`, `[]`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := protocol.ParseMessage(text)
		switch refused := (*protocol.ParseError)(nil); {
		case err == nil && m != nil:
			if !json.Valid(text) {
				t.Fatalf("%q is not JSON", text)
			}
		case m != nil || !errors.As(err, &refused):
			t.Fatalf("%v, %v", m, err)
		case nostr.ParseMessage(refused.Answer) == nil:
			t.Fatalf("answer %s", refused.Answer)
		}
	})
}

func ExampleParseMessage() {
	for _, text := range []string{`["REQ","feed",{"kinds":[1],"limit":20}]`, `["REQ","feed",{"kinds":["note"]}]`} {
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
	// ["CLOSED","feed","invalid: \"kinds\": want an integer from 0 to 65535"]
}
