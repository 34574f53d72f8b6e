package nostr

import (
	"net/url"
	"strings"
	"time"
)

// authWindow is how far the time of an AUTH may be from now: NIP-42 suggests about ten minutes.
const authWindow = 10 * time.Minute

// Check returns an error unless the client answers this challenge of this relay, now. The URL is
// the one that clients connect to. The signature is not checked here: Event.Verify takes time, for
// which a relay sets the pace. The error's text is a Reason.
func (m *AuthMessage) Check(challenge, relayURL string, now time.Time) error {
	e := &m.Event
	switch {
	case e.Kind != KindAuth:
		return reasonf(Invalid, "kind %d in an AUTH: want %d", e.Kind, KindAuth)
	case challenge == "" || e.first("challenge") != challenge:
		return reasonf(Invalid, "the challenge is another one")
	case !sameRelay(e.first("relay"), relayURL):
		return reasonf(Invalid, "the relay is %s", relayURL)
	case time.Unix(e.CreatedAt, 0).Sub(now).Abs() > authWindow:
		return reasonf(Invalid, "created_at is more than %v from now", authWindow)
	}
	return nil
}

// sameRelay compares what decides which relay is reached: host and path, without what clients write
// in several ways.
func sameRelay(a, b string) bool {
	first, err := url.Parse(a)
	if err != nil {
		return false
	}
	second, err := url.Parse(b)
	return err == nil && first.Host != "" && strings.EqualFold(first.Host, second.Host) &&
		strings.TrimSuffix(first.Path, "/") == strings.TrimSuffix(second.Path, "/")
}
