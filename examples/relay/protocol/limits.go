package protocol

import (
	"time"

	"github.com/nbd-wtf/go-nostr"
)

// The bounds on the messages of a client.
const (
	MaxMessage = 128 << 10 // bytes of a message, or of an event alone
	MaxLimit   = 500       // stored events for a filter, also the default of a filter without a limit

	maxContent      = 64 << 10 // bytes of the content of an event
	maxTags         = 2000     // tags of an event
	maxTagValues    = 10_000   // values in all tags of an event, their names included
	maxFilters      = 10       // filters of a REQ or COUNT
	maxValues       = 1000     // values in all conditions of a filter
	maxSubscription = 64       // characters of a subscription's id
	maxAhead        = 15 * time.Minute
)

// CheckTime returns an error if the event is from too far in the future.
func CheckTime(e *nostr.Event, now time.Time) error {
	if e.CreatedAt > nostr.Timestamp(now.Add(maxAhead).Unix()) {
		return Errorf(Invalid, "created_at is more than %v in the future", maxAhead)
	}
	return nil
}
