package protocol

import (
	"encoding/json"
	"slices"

	"github.com/mailru/easyjson/jwriter"
	"github.com/nbd-wtf/go-nostr"
)

// EventJSON returns an event as JSON. Characters of HTML are not escaped, which would make it
// longer.
func EventJSON(e *nostr.Event) []byte {
	w := jwriter.Writer{NoEscapeHTML: true}
	e.MarshalEasyJSON(&w)
	text, _ := w.BuildBytes() // every event of this type can be written as JSON
	return text
}

// EventMessage returns the message with an event, in JSON, for a subscription.
func EventMessage(subscription string, event []byte) []byte {
	id, _ := json.Marshal(subscription) // strings never fail
	return slices.Concat([]byte(`["EVENT",`), id, []byte{','}, event, []byte{']'})
}
