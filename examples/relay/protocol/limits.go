package protocol

import (
	"time"

	"github.com/nbd-wtf/go-nostr"
)

// The limits of the messages of a client.
const (
	MaxMessage      = 128 << 10        // bytes of a message
	MaxTagValues    = 10_000           // values in all tags of an event, where an empty tag counts as one
	MaxFilters      = 10               // filters of a REQ or COUNT
	MaxFilterValues = 1000             // values in all conditions of a filter
	MaxSubscription = 64               // characters of a subscription's id
	MaxLimit        = 500              // stored events for a filter, also the default of a filter without a limit
	MaxFuture       = 15 * time.Minute // how far the time of an event may be ahead

	maxKind = 65535
)

// CheckTime returns an error if the event is from further in the future than MaxFuture.
func CheckTime(e *nostr.Event, now time.Time) error {
	if e.CreatedAt > nostr.Timestamp(now.Add(MaxFuture).Unix()) {
		return Errorf(Invalid, "created_at is more than %v in the future", MaxFuture)
	}
	return nil
}
