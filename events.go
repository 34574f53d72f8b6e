package weir

import (
	"slices"
	"sync"

	"github.com/weir-go/weir/internal/feed"
)

// mostBuffered bounds the buffer of [Limiter.Events], which takes 200 bytes for each event.
const mostBuffered = 65_536

// Events returns a channel of the events from now on, the same as [Config].OnEvent gets, with
// a buffer of size events. A size below 1 counts as 1, and one above 65,536 as 65,536. The
// limiter never waits for the reader. If the buffer is full, a new event takes the place of
// the oldest one, and counts it in [Event].Lost.
//
// The caller ends the subscription with stop, which closes the channel. Events that are still in
// the channel can be read, and another call of stop does nothing. Closing the limiter does not
// close the channel, because a closed limiter still refuses work. An update keeps the subscription.
// A limiter may have any number of subscriptions; each makes an event slightly more expensive.
func (l *Limiter) Events(size int) (events <-chan Event, stop func()) {
	r := newReader(size)
	l.follow(r)
	return r.Events(), sync.OnceFunc(func() {
		l.unfollow(r)
		r.Close()
	})
}

type reader = feed.Reader[Event]

func newReader(size int) *reader {
	return feed.New(min(size, mostBuffered), func(e *Event) *uint64 { return &e.Lost })
}

// follow subscribes the reader to all events. The config is only replaced under the node's
// lock.
func (l *Limiter) follow(r *reader) {
	l.node.Follow(func() bool {
		conf := l.config.Load()
		l.config.Store(conf.withReaders(append(slices.Clone(conf.readers()), r)))
		return true
	})
}

func (l *Limiter) unfollow(r *reader) {
	l.node.Follow(func() bool {
		conf := l.config.Load()
		rest := slices.DeleteFunc(slices.Clone(conf.readers()), func(other *reader) bool { return other == r })
		l.config.Store(conf.withReaders(rest))
		return len(rest) > 0
	})
}

func (c *config) readers() []*reader {
	if c.cold == nil {
		return nil
	}
	return c.cold.readers
}

// withReaders returns a config with the same settings and these readers.
func (c *config) withReaders(readers []*reader) *config {
	next, cold := *c, coldConfig{}
	if c.cold != nil {
		cold = *c.cold
	}
	cold.readers = readers
	next.cold = cold.ifNeeded()
	return &next
}

// heard reports whether anything gets events.
func (c *config) heard() bool { return c.onEvent != nil || len(c.readers()) > 0 }

// tell sends events to the readers before it calls the hook, which may panic. The events after
// that are sent before the panic continues.
func (c *config) tell(events ...Event) {
	sent := 0
	defer func() {
		if sent < len(events) {
			c.tell(events[sent:]...)
		}
	}()
	for _, e := range events {
		sent++
		for _, r := range c.readers() {
			if e.Seq > 0 { // not of a call that began before there were readers
				r.Tell(e)
			}
		}
		if c.onEvent != nil {
			c.onEvent(e)
		}
	}
}
