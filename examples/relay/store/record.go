package store

import (
	"errors"
	"fmt"

	"github.com/mailru/easyjson"
	"github.com/nbd-wtf/go-nostr"
)

// ErrCorrupt is returned by a read of a malformed record.
var ErrCorrupt = errors.New("store: a record is corrupt")

// decode returns the event of a record. A record is the JSON that clients receive, so most queries
// send records without a decoding.
func decode(s, record []byte) (e nostr.Event, err error) {
	if err := easyjson.Unmarshal(record, &e); err != nil {
		return e, corrupt(s)
	}
	return e, nil
}

func corrupt(s []byte) error { return fmt.Errorf("%w: of stamp %x", ErrCorrupt, s) }
