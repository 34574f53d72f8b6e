package nostr

import (
	"errors"
	"fmt"
)

// A Prefix is the word before the colon of a reason. Programs tell the reasons of OK and
// CLOSED apart by it.
type Prefix string

// The prefixes.
const (
	Duplicate    Prefix = "duplicate"     // the relay has the event
	PoW          Prefix = "pow"           // the proof of work is insufficient
	Blocked      Prefix = "blocked"       // the author or the address is not welcome
	RateLimited  Prefix = "rate-limited"  // too much at once: come back later
	Invalid      Prefix = "invalid"       // the message is wrong
	Restricted   Prefix = "restricted"    // the client is known and may not do this
	AuthRequired Prefix = "auth-required" // the client has to authenticate
	Unsupported  Prefix = "unsupported"   // the relay cannot do this
	Failed       Prefix = "error"         // the relay cannot do this now
)

// Reason returns a reason of OK or CLOSED: the prefix, a colon, and a text for people.
func Reason(prefix Prefix, format string, args ...any) string {
	return string(prefix) + ": " + fmt.Sprintf(format, args...)
}

func reasonf(prefix Prefix, format string, args ...any) error {
	return errors.New(Reason(prefix, format, args...))
}
