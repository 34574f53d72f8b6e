package nostr_test

import (
	"encoding/json"
	"strings"
	"testing"

	gonostr "github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// oneKilobyte returns an EVENT message of about a kilobyte, with a reply's tags and a text
// with escapes.
func oneKilobyte(b *testing.B) []byte {
	e := signed(b, gonostr.Event{
		CreatedAt: 1_700_000_000, Kind: 1,
		Tags: gonostr.Tags{
			{"e", strings.Repeat("ab", 32), "wss://relay.example.com", "root"},
			{"p", strings.Repeat("cd", 32)},
			{"t", "weir"},
		},
		Content: strings.Repeat("a \"line\" of text, and one more\n", 12),
	})
	return append(e.AppendJSON([]byte(`["EVENT",`)), ']')
}

// standardEvent is an event for encoding/json.
type standardEvent struct {
	ID        string     `json:"id"`
	PubKey    string     `json:"pubkey"`
	CreatedAt int64      `json:"created_at"`
	Kind      int        `json:"kind"`
	Tags      [][]string `json:"tags"`
	Content   string     `json:"content"`
	Sig       string     `json:"sig"`
}

func BenchmarkParseMessage(b *testing.B) {
	text := oneKilobyte(b)
	for name, parse := range map[string]func() bool{
		"ours":     func() bool { _, err := nostr.ParseMessage(text, nostr.Limits{}); return err == nil },
		"go-nostr": func() bool { return gonostr.ParseMessage(text) != nil },
		"encoding/json": func() bool {
			var parts []json.RawMessage
			var e standardEvent
			return json.Unmarshal(text, &parts) == nil && json.Unmarshal(parts[1], &e) == nil
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if !parse() {
					b.Fatal("not parsed")
				}
			}
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	m, err := nostr.ParseMessage(oneKilobyte(b), nostr.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	e := m.(*nostr.EventMessage).Event
	for b.Loop() {
		if err := e.Verify(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	m, err := nostr.ParseMessage(oneKilobyte(b), nostr.Limits{})
	if err != nil {
		b.Fatal(err)
	}
	e := m.(*nostr.EventMessage).Event
	var text []byte
	b.ReportAllocs()
	for b.Loop() {
		text = e.AppendJSON(text[:0])
	}
}
