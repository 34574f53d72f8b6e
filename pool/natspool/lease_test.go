package natspool

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/together"
)

// delivered is a message whose acknowledgement goes to a subject of the test.
type delivered struct {
	jetstream.Msg
	reply string
}

func (d delivered) Reply() string { return d.reply }

// TestAcknowledgementIsLost: no answer to another one counts for it.
func TestAcknowledgementIsLost(t *testing.T) {
	l := must.Have(Open(t.Context(), t.TempDir()))(t)
	t.Cleanup(func() { _ = l.Close() })
	const n, lost = 10, 5
	must.Have(l.conn.Subscribe("acks.*", func(m *nats.Msg) {
		if m.Subject != fmt.Sprint("acks.", lost) {
			_ = m.Respond(nil)
		}
	}))(t)
	q := &Queue{js: l.JetStream()}
	within, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	together.Do(n, func(i int) {
		of := &lease{queue: q, msg: delivered{reply: fmt.Sprint("acks.", i)}, meta: &jetstream.MsgMetadata{}, until: time.Now().Add(time.Hour)}
		if err := of.Acknowledge(within); (err != nil) != (i == lost) {
			t.Errorf("acknowledgement %d: %v", i, err)
		}
	})
}
