package relay

import (
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/protocol"
)

// identity holds the keys with which a client has authenticated.
type identity struct {
	challenge string // to be signed by the client
	url       string // of the relay, to be signed by the client

	mu   sync.Mutex
	keys []string
}

// mostKeys is the number of keys a client may use on one connection.
const mostKeys = 16

func (i *identity) is(key string) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Contains(i.keys, key)
}

func (i *identity) known() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.keys) > 0
}

// add fails if the client has too many keys.
func (i *identity) add(key string) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case slices.Contains(i.keys, key):
		return nil
	case len(i.keys) == mostKeys:
		return protocol.Errorf(protocol.Restricted, "%d keys on this connection: want no more", mostKeys)
	}
	i.keys = append(i.keys, strings.Clone(key)) // not with its message
	return nil
}

// ownURL returns the relay's URL as a client knows it.
func ownURL(configured string, r *http.Request) string {
	switch {
	case configured != "":
		return configured
	case r.TLS != nil:
		return "wss://" + r.Host
	}
	return "ws://" + r.Host
}

// challenge returns the reason why a client has to authenticate, and sends the challenge
// again: some clients lose a message that comes with the handshake, as the first one does
// (go-nostr v0.38.2).
func (c *connection) challenge(why string) (reason string) {
	c.answer("AUTH", c.identity.challenge)
	return protocol.Reason(protocol.AuthRequired, "%s", why)
}

// authenticate answers an AUTH. It verifies it like an event, because it costs as much.
func (c *connection) authenticate(e *nostr.Event) {
	err := protocol.CheckAuth(e, c.identity.challenge, c.identity.url, time.Now())
	if err == nil {
		err = c.server.verify(c.ctx, e)
	}
	if err == nil {
		err = c.identity.add(e.PubKey)
	}
	reason := ""
	if err != nil {
		c.server.counts.refused(verifying)
		reason = refusal("events to verify", err)
	}
	c.answer("OK", e.ID, err == nil, reason)
}
