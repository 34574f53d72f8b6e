package nostr

import "time"

// Information is the document that a relay serves over HTTP to clients that accept
// application/nostr+json (NIP-11).
type Information struct {
	// The relay and its operator, for people.
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	PubKey      string `json:"pubkey,omitempty"`
	Contact     string `json:"contact,omitempty"` // a URI

	// The program.
	SupportedNIPs []int  `json:"supported_nips"`
	Software      string `json:"software,omitempty"` // a URL
	Version       string `json:"version,omitempty"`

	// The limits for clients.
	Limitation Limitation `json:"limitation"`
}

// A Limitation holds the limits that a relay sets for its clients. Zero means no limit.
type Limitation struct {
	// The limits on messages of a client.
	MessageLength      int `json:"max_message_length,omitempty"` // bytes
	Subscriptions      int `json:"max_subscriptions,omitempty"`  // of a connection
	Filters            int `json:"max_filters,omitempty"`        // of a REQ
	Limit              int `json:"max_limit,omitempty"`          // of a filter
	DefaultLimit       int `json:"default_limit,omitempty"`      // of a filter without one
	SubscriptionLength int `json:"max_subid_length,omitempty"`   // characters
	EventTags          int `json:"max_event_tags,omitempty"`
	ContentLength      int `json:"max_content_length,omitempty"` // of an event, in bytes

	// Access, and how far the time of an event may be ahead, in seconds.
	AuthRequired     bool  `json:"auth_required"`
	PaymentRequired  bool  `json:"payment_required"`
	RestrictedWrites bool  `json:"restricted_writes"`
	Ahead            int64 `json:"created_at_upper_limit,omitempty"`
}

// Limitation returns the limits in the form of the information document. The caller sets the
// fields that are not about parsing.
func (l Limits) Limitation() Limitation {
	l = l.WithDefaults()
	return Limitation{
		MessageLength: l.Message, Filters: l.Filters, Limit: l.Limit, DefaultLimit: l.Limit, SubscriptionLength: l.Subscription,
		EventTags: l.Tags, ContentLength: l.Content, Ahead: int64(l.Future / time.Second),
	}
}
