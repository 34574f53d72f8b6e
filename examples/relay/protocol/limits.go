package protocol

import (
	"time"

	"github.com/nbd-wtf/go-nostr"
)

// Limits bound the messages of a client. A field that is zero or negative takes its default.
type Limits struct {
	Message      int           // bytes of a message, or of an event alone; 128 KiB
	Content      int           // bytes of the content of an event; 64 KiB
	Tags         int           // tags of an event; 2,000
	TagValues    int           // values in all tags of an event, their names included; 10,000
	Filters      int           // filters of a REQ or COUNT; 10
	Values       int           // values in all conditions of a filter; 1,000
	Subscription int           // characters of a subscription's id; 64
	Limit        int           // stored events for a filter, also the default of a filter without a limit; 500
	Future       time.Duration // how far the time of an event may be ahead; 15 minutes
}

// WithDefaults returns the limits with the defaults in place of zero and negative values.
func (l Limits) WithDefaults() Limits {
	l.Message = orDefault(l.Message, 128<<10)
	l.Content = orDefault(l.Content, 64<<10)
	l.Tags = orDefault(l.Tags, 2000)
	l.TagValues = orDefault(l.TagValues, 10_000)
	l.Filters = orDefault(l.Filters, 10)
	l.Values = orDefault(l.Values, 1000)
	l.Subscription = orDefault(l.Subscription, 64)
	l.Limit = orDefault(l.Limit, 500)
	l.Future = orDefault(l.Future, 15*time.Minute)
	return l
}

func orDefault[T int | time.Duration](value, otherwise T) T {
	if value > 0 {
		return value
	}
	return otherwise
}

// CheckTime returns an error if the event is from further in the future than the limits allow.
func (l Limits) CheckTime(e *nostr.Event, now time.Time) error {
	l = l.WithDefaults()
	if e.CreatedAt > nostr.Timestamp(now.Add(l.Future).Unix()) {
		return Errorf(Invalid, "created_at is more than %v in the future", l.Future)
	}
	return nil
}
