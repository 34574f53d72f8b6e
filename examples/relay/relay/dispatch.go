package relay

import (
	"errors"

	"github.com/coder/websocket"

	"github.com/weir-go/weir/examples/relay/nostr"
)

// dispatch processes a message. It returns after the message is answered, or later = true
// for an event that is published on a goroutine of its own.
func (c *connection) dispatch(kind websocket.MessageType, text []byte) (later bool) {
	if kind != websocket.MessageText {
		c.server.counts.refused(parsing)
		c.answer(nostr.AppendNotice(nil, nostr.Reason(nostr.Invalid, "a binary frame: want text")))
		return false
	}
	parsed, err := nostr.ParseMessage(text, c.server.conf.Limits)
	if wrong := (*nostr.ParseError)(nil); errors.As(err, &wrong) {
		c.server.counts.refused(parsing)
		c.answer(wrong.AppendAnswer(nil))
		return false
	}
	switch m := parsed.(type) {
	case *nostr.EventMessage:
		return c.takeUp(&m.Event, cap(text))
	case *nostr.ReqMessage:
		c.queries.subscribe(m)
	case *nostr.CountMessage:
		c.queries.count(m)
	case *nostr.CloseMessage:
		c.queries.close(m.Subscription)
	case *nostr.AuthMessage:
		c.authenticate(m)
	}
	return false
}

// takeUp waits for a slot, publishes an event on a goroutine of its own, and then releases
// its memory.
func (c *connection) takeUp(e *nostr.Event, bytes int) bool {
	select {
	case c.publishing <- struct{}{}:
	case <-c.ctx.Done():
		return false
	}
	return c.start(func() {
		defer c.incoming.give(bytes)
		ok, reason := c.publish(e)
		c.answer(nostr.AppendOK(nil, e.ID, ok, reason))
		<-c.publishing
	})
}
