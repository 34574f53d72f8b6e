package protocol

import (
	"net/url"
	"strings"
	"time"

	"github.com/nbd-wtf/go-nostr"
)

// authWindow is the largest difference between the time of an AUTH and now: NIP-42 suggests
// about ten minutes.
const authWindow = 10 * time.Minute

// CheckAuth returns an error unless an AUTH answers this challenge of this relay, now. The URL
// is the one that clients connect to. It does not verify the signature: Verify takes time, so
// the relay schedules it. The error's text is a Reason.
func CheckAuth(e *nostr.Event, challenge, relayURL string, now time.Time) error {
	switch {
	case e.Kind != nostr.KindClientAuthentication:
		return Errorf(Invalid, "kind %d in an AUTH: want %d", e.Kind, nostr.KindClientAuthentication)
	case challenge == "" || first(e, "challenge") != challenge:
		return Errorf(Invalid, "the challenge is another one")
	case !sameRelay(first(e, "relay"), relayURL):
		return Errorf(Invalid, "the relay is %s", relayURL)
	case e.CreatedAt.Time().Sub(now).Abs() > authWindow:
		return Errorf(Invalid, "created_at is more than %v from now", authWindow)
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
