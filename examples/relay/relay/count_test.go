package relay_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/weir-go/weir/examples/relay/nostr"
	"github.com/weir-go/weir/examples/relay/relay"
)

// held blocks reads until the function is called or the test ends, so that a failing test
// does not hang.
func (s *fake) held(t *testing.T) (release func()) {
	leave := make(chan struct{})
	s.beforeNext = func(nostr.Filter) error {
		select {
		case <-leave:
		case <-t.Context().Done():
		}
		return nil
	}
	return sync.OnceFunc(func() { close(leave) })
}

// until returns the kinds and ids of the messages before the first one of the given kind.
func (c *client) until(kind string) (messages []string) {
	c.t.Helper()
	for {
		m := c.receive()
		if m[0] == kind {
			return messages
		}
		if m[0] == "CLOSED" {
			m[1] = fmt.Sprint(m[1], " ", m[2])
		}
		messages = append(messages, fmt.Sprint(m[0], " ", m[1]))
	}
}

// TestCountsAreNoSubscriptions is a regression test: waiting COUNTs counted as
// subscriptions, so that a client with all of its subscriptions open could not count.
func TestCountsAreNoSubscriptions(t *testing.T) {
	kept, _ := filled(t, 1, "")
	release := kept.held(t)
	s := serve(t, relay.Config{Store: kept, Subscriptions: 2, Queries: 1})
	c := s.client()
	for _, message := range []string{
		`["COUNT","c1",{}]`, `["COUNT","c2",{}]`, `["COUNT","c3",{}]`,
		`["REQ","r1",{}]`, `["REQ","r2",{}]`, `["REQ","r3",{}]`,
		`["COUNT","c4",{}]`,
	} {
		c.send(message)
	}
	c.send(`[]`) // answered at once, after all earlier refusals
	refused := c.until("NOTICE")
	for i, want := range []string{
		"CLOSED c3 rate-limited: 2 COUNTs are not answered yet", "CLOSED r3 rate-limited: 2 subscriptions are open", "CLOSED c4 rate-limited: 2 COUNTs are not",
	} {
		if len(refused) != 3 || !strings.HasPrefix(refused[i], want) {
			t.Fatalf("refused are %q, want the third of each and the COUNT after it", refused)
		}
	}
	if n, m := s.metric(`relay_refused_total{stage="subscription"}`), s.metric(`relay_refused_total{stage="count"}`); n != "1" || m != "2" {
		t.Errorf("%s subscriptions and %s COUNTs are counted as refused, want 1 and 2", n, m)
	}
	release()
	var answered []string
	for len(answered) < 6 {
		answered = append(answered, fmt.Sprint(c.receive()[:2]))
	}
	slices.Sort(answered)
	if got := fmt.Sprint(answered); got != "[[COUNT c1] [COUNT c2] [EOSE r1] [EOSE r2] [EVENT r1] [EVENT r2]]" {
		t.Errorf("answered are %s", got)
	}
	c.send(`["COUNT","c5",{}]`)
	c.want("COUNT", "c5")
}
