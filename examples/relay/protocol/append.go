package protocol

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/nbd-wtf/go-nostr"
)

// AppendJSON appends an event as the protocol writes it. go-nostr writes longer text, which
// may exceed the limits of the relay that imports it.
func AppendJSON(b []byte, e *nostr.Event) []byte {
	b = append(b, `{"id":"`...)
	b = append(b, e.ID...)
	b = append(b, `","pubkey":"`...)
	b = append(b, e.PubKey...)
	b = append(b, `","created_at":`...)
	b = strconv.AppendInt(b, int64(e.CreatedAt), 10)
	b = append(b, `,"kind":`...)
	b = strconv.AppendInt(b, int64(e.Kind), 10)
	b = append(b, `,"tags":[`...)
	for i, tag := range e.Tags {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '[')
		for j, value := range tag {
			if j > 0 {
				b = append(b, ',')
			}
			b = appendString(b, value)
		}
		b = append(b, ']')
	}
	b = append(b, `],"content":`...)
	b = appendString(b, e.Content)
	b = append(b, `,"sig":"`...)
	b = append(b, e.Sig...)
	return append(b, `"}`...)
}

// appendString escapes the characters that JSON does not allow in a string, and no other.
func appendString(b []byte, text string) []byte {
	b = append(b, '"')
	plain := 0 // start of the text not yet appended
	for i := range len(text) {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		b = append(b, text[plain:i]...)
		plain = i + 1
		if short := strings.IndexByte("\"\\\n\r\t\b\f", c); short >= 0 {
			b = append(b, '\\', `"\nrtbf`[short])
			continue
		}
		b = append(b, `\u00`...)
		b = hex.AppendEncode(b, []byte{c})
	}
	b = append(b, text[plain:]...)
	return append(b, '"')
}

// EventMessage returns the message with an event for a subscription.
func EventMessage(subscription string, e *nostr.Event) []byte {
	head := EventHead(subscription)
	return append(AppendJSON(head, e), ']')
}

// EventHead returns the part of an EventMessage before the event.
func EventHead(subscription string) []byte {
	return append(appendString([]byte(`["EVENT",`), subscription), ',')
}
