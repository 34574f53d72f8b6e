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

// EventHead returns the start of the message with an event for a subscription: the event and a ]
// follow.
func EventHead(subscription string) []byte {
	id, _ := json.Marshal(subscription) // strings never fail
	return append(append([]byte(`["EVENT",`), id...), ',')
}
