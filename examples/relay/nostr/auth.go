package nostr

import (
	"net/url"
	"strings"
	"time"
)

// authWindow is the largest difference between the time of an AUTH and now: NIP-42 suggests
// about ten minutes.
const authWindow = 10 * time.Minute

// Check returns an error unless the client answers this challenge of this relay, now. The
// URL is the one that clients connect to. Check does not verify the signature: Event.Verify
// takes time, so the relay schedules it. The error's text is a Reason.
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

// sameRelay compares host and path, and ignores differences in spelling among clients.
func sameRelay(a, b string) bool {
	first, err := url.Parse(a)
	if err != nil {
		return false
	}
	second, err := url.Parse(b)
	return err == nil && first.Host != "" && strings.EqualFold(first.Host, second.Host) &&
		strings.TrimSuffix(first.Path, "/") == strings.TrimSuffix(second.Path, "/")
}
