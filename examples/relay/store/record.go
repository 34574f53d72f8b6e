package store

import (
	"errors"
	"fmt"

	"github.com/mailru/easyjson"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// ErrCorrupt is returned by a read of a malformed record.
var ErrCorrupt = errors.New("store: a record is corrupt")

// A record is the event as JSON.
func recordOf(e *nostr.Event) []byte { return protocol.AppendJSON(nil, e) }

// decode returns the event of a record and its stamp. The event shares no memory with the
// record.
func decode(s stamp, record []byte) (e nostr.Event, err error) {
	if err := easyjson.Unmarshal(record, &e); err != nil {
		return e, fmt.Errorf("%w: event %x: %w", ErrCorrupt, s[8:], err)
	}
	return e, nil
}
