package nostr_test

import (
	"encoding/json"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/examples/relay/nostr"
)

var (
	id  = strings.Repeat("ab", 32)
	key = strings.Repeat("cd", 32)
	sig = strings.Repeat("ef", 64)
)

// small holds limits that a short message exceeds.
var small = nostr.Limits{Message: 600, Content: 10, Tags: 2, TagValues: 5, Filters: 2, Values: 3, Subscription: 5, Limit: 7}

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

// Each answer is the message to the client.
func TestWhatIsWrongIsSaid(t *testing.T) {
	ok := `["OK","` + id + `",false,"`
	for _, test := range []struct{ message, answer string }{
		// JSON, and the form of a message.
		{``, `["NOTICE","invalid: want an array at byte 0"]`},
		{` {}`, `["NOTICE","invalid: want an array at byte 1"]`},
		{`[`, `["NOTICE","invalid: want a string at byte 1"]`},
		{`[]`, `["NOTICE","invalid: the message is empty: want EVENT, REQ, COUNT, CLOSE or AUTH"]`},
		{`["CLOSE"`, `["NOTICE","invalid: want a comma or ] at byte 8"]`},
		{`["CLOSE","s"]x`, `["NOTICE","invalid: want nothing more at byte 13"]`},
		{`["CLOSE","s",]`, `["NOTICE","invalid: want nothing after the subscription at byte 13"]`},
		{`["CLOSE","s","s"]`, `["NOTICE","invalid: want nothing after the subscription at byte 13"]`},
		{`["CLOSE"]`, `["NOTICE","invalid: CLOSE without a subscription"]`},
		{`["REQ"]`, `["NOTICE","invalid: REQ without a subscription"]`},
		{`["EVENT"]`, `["NOTICE","invalid: EVENT without an event"]`},
		{`["AUTH"]`, `["NOTICE","invalid: AUTH without an event"]`},
		{`["HELLO\u0000"]`, `["NOTICE","invalid: unknown message \"HELLO\\x00\": want EVENT, REQ, COUNT, CLOSE or AUTH"]`},
		{`[1]`, `["NOTICE","invalid: want a string at byte 1"]`},
		{"[\"CLOSE\",\"\xff\"]", `["NOTICE","invalid: the text is not UTF-8"]`},
		{`["CLOSE","` + strings.Repeat("s", 600) + `"]`, `["NOTICE","invalid: 612 bytes, where at most 600 are allowed"]`},

		// Strings.
		{"[\"CLOSE\",\"a\nb\"]", `["NOTICE","invalid: want no control character in a string at byte 11"]`},
		{`["CLOSE","a`, `["NOTICE","invalid: want the end of a string at byte 11"]`},
		{`["CLOSE","a\`, `["NOTICE","invalid: want an escape of JSON at byte 11"]`},
		{`["CLOSE","\x"]`, `["NOTICE","invalid: want an escape of JSON at byte 10"]`},
		{`["CLOSE","\u12"]`, `["NOTICE","invalid: want four hexadecimal digits at byte 10"]`},
		{`["CLOSE","\u+123"]`, `["NOTICE","invalid: want four hexadecimal digits at byte 10"]`},
		{`["CLOSE","\ud800"]`, `["NOTICE","invalid: want no half of a surrogate pair at byte 10"]`},
		{`["CLOSE","\udc00\ud800"]`, `["NOTICE","invalid: want no half of a surrogate pair at byte 10"]`},
		{`["CLOSE","\ud800\u0041"]`, `["NOTICE","invalid: want no half of a surrogate pair at byte 10"]`},

		// Subscriptions.
		{`["REQ","",{}]`, `["NOTICE","invalid: the subscription has 0 characters: want 1 to 5"]`},
		{`["REQ","äöüßéx",{}]`, `["NOTICE","invalid: the subscription has 6 characters: want 1 to 5"]`},
		{`["COUNT",1,{}]`, `["NOTICE","invalid: want a string at byte 9"]`},
		{`["REQ","s"]`, `["CLOSED","s","invalid: REQ without a filter"]`},
		{`["COUNT","s"]`, `["CLOSED","s","invalid: COUNT without a filter"]`},
		{`["REQ","s",{},{},{}]`, `["CLOSED","s","invalid: more than 2 filters"]`},

		// Filters.
		{`["REQ","s",[]]`, `["CLOSED","s","invalid: want an object at byte 11"]`},
		{`["REQ","s",{"ids":null}]`, `["CLOSED","s","invalid: \"ids\": want an array at byte 18"]`},
		{`["REQ","s",{"ids":["ab"]}]`, `["CLOSED","s","invalid: \"ids\": want 64 lower-case hexadecimal digits at byte 19"]`},
		{`["REQ","s",{"authors":["` + strings.ToUpper(key) + `"]}]`, `["CLOSED","s","invalid: \"authors\": want 64 lower-case hexadecimal digits at byte 23"]`},
		{`["REQ","s",{"kinds":[1,65536]}]`, `["CLOSED","s","invalid: \"kinds\": want an integer from 0 to 65535 at byte 23"]`},
		{`["REQ","s",{"kinds":["1"]}]`, `["CLOSED","s","invalid: \"kinds\": want a number at byte 21"]`},
		{`["REQ","s",{"since":1.5}]`, `["CLOSED","s","invalid: \"since\": want an integer from -9223372036854775808 to 9223372036854775807 at byte 20"]`},
		{`["REQ","s",{"until":9223372036854775808}]`, `["CLOSED","s","invalid: \"until\": want an integer from -9223372036854775808 to 9223372036854775807 at byte 20"]`},
		{`["REQ","s",{"limit":-1}]`, `["CLOSED","s","invalid: \"limit\": want an integer from 0 to 9223372036854775807 at byte 20"]`},
		{`["REQ","s",{"limit":1,"limit":1}]`, `["CLOSED","s","invalid: \"limit\": the field is there twice"]`},
		{`["REQ","s",{"#e":[],"#\u0065":[]}]`, `["CLOSED","s","invalid: \"#e\": the field is there twice"]`},
		{`["REQ","s",{"#e":["a"],"#p":["a","b","c"]}]`, `["CLOSED","s","invalid: \"#p\": more than 3 values in a filter"]`},
		{`["REQ","s",{"#e":[1]}]`, `["CLOSED","s","invalid: \"#e\": want a string at byte 18"]`},
		{`["REQ","s",{"#ee":[]}]`, `["CLOSED","s","unsupported: \"#ee\": only tags of a single letter are indexed"]`},
		{`["REQ","s",{"#1":[]}]`, `["CLOSED","s","unsupported: \"#1\": only tags of a single letter are indexed"]`},
		{`["REQ","s",{"#":[]}]`, `["CLOSED","s","unsupported: \"#\": only tags of a single letter are indexed"]`},
		{`["REQ","s",{"other":01}]`, `["CLOSED","s","invalid: want a comma or } at byte 21"]`},
		{`["REQ","s",{"other":truth}]`, `["CLOSED","s","invalid: \"other\": want a value at byte 20"]`},
		{`["REQ","s",{"other":nil}]`, `["CLOSED","s","invalid: \"other\": want a value at byte 20"]`},
		{`["REQ","s",{"other":-}]`, `["CLOSED","s","invalid: \"other\": want a number at byte 21"]`},
		{`["REQ","s",{"other":1.}]`, `["CLOSED","s","invalid: \"other\": want a digit at byte 22"]`},
		{`["REQ","s",{"other":1e+}]`, `["CLOSED","s","invalid: \"other\": want a digit at byte 23"]`},
		{`["REQ","s",{"other"}]`, `["CLOSED","s","invalid: want a colon at byte 19"]`},
		{`["REQ","s",{other:1}]`, `["CLOSED","s","invalid: want a string at byte 12"]`},
		{`["REQ","s",{"other":1,}]`, `["CLOSED","s","invalid: want a string at byte 22"]`},
		{
			`["REQ","s",{"other":` + strings.Repeat("[", 17) + strings.Repeat("]", 17) + `}]`,
			`["CLOSED","s","invalid: \"other\": want no more arrays and objects inside one another at byte 36"]`,
		},

		// Events.
		{`["EVENT",` + event("sig", "") + `]`, ok + `invalid: the event has no field \"sig\""]`},
		{`["EVENT",` + event("id", "") + `]`, `["NOTICE","invalid: the event has no field \"id\""]`},
		{`["EVENT",` + event("id", `"ab"`) + `]`, `["NOTICE","invalid: \"id\": want 64 lower-case hexadecimal digits at byte 15"]`},
		{`["EVENT",` + event("pubkey", `"ab"`) + `]`, ok + `invalid: \"pubkey\": want 64 lower-case hexadecimal digits at byte 91"]`},
		{`["EVENT",` + event("created_at", "0") + `]`, ok + `invalid: \"created_at\": want an integer from 1 to 9007199254740991 at byte 171"]`},
		{`["EVENT",` + event("created_at", "1.7e9") + `]`, ok + `invalid: \"created_at\": want an integer from 1 to 9007199254740991 at byte 171"]`},
		{`["EVENT",` + event("kind", "65536") + `]`, ok + `invalid: \"kind\": want an integer from 0 to 65535 at byte 189"]`},
		{`["EVENT",` + event("kind", "-1") + `]`, ok + `invalid: \"kind\": want an integer from 0 to 65535 at byte 189"]`},
		{`["EVENT",` + event("tags", "null") + `]`, ok + `invalid: \"tags\": want an array at byte 198"]`},
		{`["EVENT",` + event("tags", "[1]") + `]`, ok + `invalid: \"tags\": want an array at byte 199"]`},
		{`["EVENT",` + event("tags", `[["a",["b"]]]`) + `]`, ok + `invalid: \"tags\": want a string at byte 204"]`},
		{`["EVENT",` + event("tags", "[[],[],[]]") + `]`, ok + `invalid: \"tags\": more than 2 tags"]`},
		{`["EVENT",` + event("tags", `[["","",""],["","",""]]`) + `]`, ok + `invalid: \"tags\": more than 5 values in all tags"]`},
		{`["EVENT",` + event("content", `"12345678901"`) + `]`, ok + `invalid: \"content\": 11 bytes, where at most 10 are allowed"]`},
		{`["EVENT",` + event("content", "null") + `]`, ok + `invalid: \"content\": want a string at byte 211"]`},
		{`["EVENT",` + event("sig", `"`+id+`"`) + `]`, ok + `invalid: \"sig\": want 128 lower-case hexadecimal digits at byte 220"]`},
		{`["EVENT",` + with(`"kind":1`) + `]`, ok + `invalid: \"kind\": the field is there twice"]`},
		{`["EVENT",` + with(`"\u0069d":"`+id+`"`) + `]`, ok + `invalid: \"id\": the field is there twice"]`},
		{`["EVENT",` + event("", "") + `,{}]`, ok + `invalid: want nothing after the event at byte 352"]`},
		{`["AUTH",` + event("kind", "x") + `]`, ok + `invalid: \"kind\": want a number at byte 188"]`},
		{`["AUTH","challenge"]`, `["NOTICE","invalid: want an object at byte 8"]`},
	} {
		m, err := nostr.ParseMessage([]byte(test.message), small)
		var refused *nostr.ParseError
		if !errors.As(err, &refused) || m != nil {
			t.Errorf("%s: %v, %v", test.message, m, err)
			continue
		}
		answer := string(refused.AppendAnswer(nil))
		if answer != test.answer || !json.Valid([]byte(answer)) {
			t.Errorf("%s:\n got %s\nwant %s", test.message, answer, test.answer)
		}
	}
}

// The same texts without a message around them.
func TestParseEventAndFilterSayWhatIsWrong(t *testing.T) {
	for _, test := range []struct {
		text, want string
		parse      func([]byte) error
	}{
		{event("kind", "1") + "{}", "invalid: want nothing more at byte 342", parseEvent},
		{event("kind", `"1"`), `invalid: "kind": want a number at byte 180`, parseEvent},
		{strings.Repeat(" ", 601), "invalid: 601 bytes, where at most 600 are allowed", parseEvent},
		{`{} {}`, "invalid: want nothing more at byte 3", parseFilter},
		{`{"ids":{}}`, `invalid: "ids": want an array at byte 7`, parseFilter},
		{`null`, "invalid: want an object at byte 0", parseFilter},
	} {
		if err := test.parse([]byte(test.text)); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", test.text, err, test.want)
		}
	}
}

func parseEvent(text []byte) error {
	_, err := nostr.ParseEvent(text, small)
	return err
}

func parseFilter(text []byte) error {
	_, err := nostr.ParseFilter(text, small)
	return err
}

func TestWhatIsForgedIsRefused(t *testing.T) {
	genuine := signed(t, peerNote)
	if err := genuine.Verify(); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		forge func(*nostr.Event)
		want  string
	}{
		"content":       {func(e *nostr.Event) { e.Content += "!" }, "invalid: the id is not the hash of the event"},
		"id":            {func(e *nostr.Event) { e.ID[0]++ }, "invalid: the id is not the hash of the event"},
		"signature":     {func(e *nostr.Event) { e.Sig[63]++ }, "invalid: the signature is not that of the author"},
		"another's":     {func(e *nostr.Event) { e.PubKey[0]++; e.ID = e.Hash() }, "invalid: the signature is not that of the author"},
		"no key":        {func(e *nostr.Event) { e.PubKey = nostr.PubKey{}; e.ID = e.Hash() }, "invalid: the signature is not that of the author"},
		"changed later": {func(e *nostr.Event) { e.Content = ""; e.ID = e.Hash() }, "invalid: the signature is not that of the author"},
	} {
		e := genuine
		test.forge(&e)
		if err := e.Verify(); err == nil || err.Error() != test.want {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
}

func TestTheFutureIsBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	for ahead, want := range map[time.Duration]string{
		-time.Hour:                   "",
		15 * time.Minute:             "",
		15*time.Minute + time.Second: "invalid: created_at is more than 15m0s in the future",
	} {
		e := nostr.Event{CreatedAt: now.Add(ahead).Unix()}
		err := nostr.Limits{}.CheckTime(&e, now)
		if got := errorText(err); got != want {
			t.Errorf("%v ahead: %q, want %q", ahead, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// The message has the largest size that the limits allow, filled with the elements that take
// the most memory for their length.
func TestNoMessageTakesMuchMemory(t *testing.T) {
	limits := nostr.Limits{}.WithDefaults()
	fill := func(start, part, end string) []byte {
		n := (limits.Message - len(start) - len(end)) / len(part)
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
		nostr.ParseMessage(text, limits)
		runtime.ReadMemStats(&after)
		if taken := after.TotalAlloc - before.TotalAlloc; taken > 5*uint64(len(text)) {
			t.Errorf("%s: %d bytes for a message of %d", name, taken, len(text))
		} else {
			t.Logf("%s: %.1f times its length", name, float64(taken)/float64(len(text)))
		}
	}
}
