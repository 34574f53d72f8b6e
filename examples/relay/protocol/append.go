package protocol

import (
	"encoding/json"

	"github.com/mailru/easyjson/jwriter"
	"github.com/nbd-wtf/go-nostr"
)

// AppendJSON appends an event as JSON. Characters of HTML are not escaped, which would make it
// longer.
func AppendJSON(b []byte, e *nostr.Event) []byte {
	w := jwriter.Writer{NoEscapeHTML: true}
	e.MarshalEasyJSON(&w)
	text, _ := w.BuildBytes() // an event of these types always has a text
	return append(b, text...)
}

// EventMessage returns the message with an event for a subscription.
func EventMessage(subscription string, e *nostr.Event) []byte {
	head := EventHead(subscription)
	return append(AppendJSON(head, e), ']')
}

// EventHead returns the part of an EventMessage before the event.
func EventHead(subscription string) []byte {
	id, _ := json.Marshal(subscription) // strings never fail
	return append(append([]byte(`["EVENT",`), id...), ',')
}
