package natspool

import (
	"context"
	"sync"
	"time"
)

// acks sends acknowledgements in groups. A server takes the acknowledgements of a connection in
// their order, so its answer to the last of a group speaks for all of them. The groups form
// by themselves: the next is sent when that answer has come.
type acks struct {
	mu      sync.Mutex
	waiting []*ack
	sending bool
}

// An ack is an acknowledgement that waits for the server.
type ack struct {
	*lease
	sent chan error // holds one
}

// answerTime is how long the server has to answer before an answer is sent again.
const answerTime = 5 * time.Second

// confirm acknowledges the delivery of a lease, and returns when the server has it. It tries once.
func (a *acks) confirm(ctx context.Context, l *lease) error {
	one := &ack{l, make(chan error, 1)}
	a.mu.Lock()
	a.waiting = append(a.waiting, one)
	first := !a.sending
	a.sending = true
	a.mu.Unlock()
	if first {
		go a.send()
	}
	select {
	case err := <-one.sent:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// send sends groups while there are any.
func (a *acks) send() {
	for {
		a.mu.Lock()
		group := a.waiting
		a.waiting = nil
		if a.sending = len(group) > 0; !a.sending {
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		err := sendGroup(group)
		for _, one := range group {
			one.sent <- err
		}
	}
}

func sendGroup(group []*ack) error {
	last := len(group) - 1
	for _, one := range group[:last] {
		if err := one.queue.js.Conn().Publish(one.msg.Reply(), []byte(acknowledgement)); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	return group[last].send(ctx, acknowledgement)
}

const acknowledgement = "+ACK"
