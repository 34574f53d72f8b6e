package relay

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// Idle is the source of an idle store.
type Idle struct{}

func (Idle) Name() string { return "idle" }

func (Idle) TellsDrain() bool { return true }

func (Idle) Poll(context.Context) (load.Sample, error) {
	return load.Sample{
		Readings: []load.Reading{{Name: "backlog", Value: 0, Limit: 1}},
		Drain:    &load.Drain{Target: 10, Limit: 15},
	}, nil
}

// heap returns the size of the live heap.
func heap() int {
	var s runtime.MemStats
	runtime.GC()
	runtime.GC() // a second time, for finalizers and pools
	runtime.ReadMemStats(&s)
	return int(s.HeapAlloc)
}

// unserved returns a connection of which no query is performed.
func unserved(t *testing.T) *connection {
	t.Helper()
	s := must.Have(New(Config{Store: inBadger{}, Sources: []load.Source{Idle{}}}))(t)
	t.Cleanup(s.governor.Close)
	c := &connection{server: s, ctx: t.Context(), kept: share{own: 1 << 30}, out: &outbox{limit: mostUnsent}, leaving: true}
	c.queries.conn, c.queries.open = c, map[string]*query{}
	return c
}

// repeated returns the text of n values of the form, each with another number.
func repeated(form string, first, n int) string {
	var values []string
	for i := range n {
		values = append(values, fmt.Sprintf(form, first+i))
	}
	return strings.Join(values, ",")
}

func TestQueriesWeighWhatTheyTake(t *testing.T) {
	const hex = `"%064x"`
	for name, filters := range map[string]func(first int) string{
		"none":           func(int) string { return `{}` },
		"ten":            func(int) string { return strings.Repeat(`{},`, 9) + `{}` },
		"unknown fields": func(int) string { return `{"search":"` + strings.Repeat("x", 98_000) + `"}` },
		"an author":      func(first int) string { return `{"authors":[` + repeated(hex, first, 1) + `]}` },
		"300 authors":    func(first int) string { return `{"authors":[` + repeated(hex, first, 300) + `]}` },
		"500 ids and 500 kinds": func(first int) string {
			return `{"ids":[` + repeated(hex, first, 500) + `],"kinds":[` + repeated("%d", 0, 500) + `]}`
		},
		"1000 tags": func(first int) string { return `{"#t":[` + repeated(`"%d"`, first, 1000) + `]}` },
		"tags of 26 letters": func(first int) string {
			var tags []string
			for letter := 'a'; letter <= 'z'; letter++ {
				tags = append(tags, `"#`+string(letter)+`":[`+repeated(`"%d"`, first, 30)+`]`)
			}
			return `{` + strings.Join(tags, ",") + `}`
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := unserved(t)
			const queries = 30
			var messages [][]byte
			for i := range queries {
				messages = append(messages, fmt.Appendf(nil, `["REQ","subscription %d",%s]`, i, filters(1000*i)))
			}
			before := heap()
			for _, text := range messages {
				m := must.Have(protocol.ParseMessage(text))(t)
				req := m.(*nostr.ReqEnvelope)
				c.queries.subscribe(req.SubscriptionID, req.Filters, len(text))
			}
			took, charged := heap()-before, c.kept.bytes
			t.Logf("a query takes %d bytes and is charged %d", took/queries, charged/queries)
			if charged < took || charged > 4*took {
				t.Errorf("charged %d bytes for %d, want at least that and at most four times as much", charged, took)
			}
			runtime.KeepAlive(c)
			runtime.KeepAlive(messages)
		})
	}
}

// A connection that ends leaves nothing of its subscriptions.
func TestEndedSubscriptionsAreForgotten(t *testing.T) {
	c := unserved(t)
	for i := range 32 {
		c.queries.subscribe(fmt.Sprint(i), nostr.Filters{{Kinds: []int{7}}}, 0)
	}
	c.queries.close("0")
	if n := len(c.server.live.open); n != 31 {
		t.Errorf("%d subscriptions are open, want 31", n)
	}
	c.queries.endAll()
	if n := len(c.server.live.open); n > 0 || c.kept.bytes != 0 {
		t.Errorf("%d subscriptions are open, and %d bytes are kept for them", n, c.kept.bytes)
	}
}
