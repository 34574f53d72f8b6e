package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"
)

// A client is one connection to a relay. It is not safe for concurrent use.
type client struct{ conn *websocket.Conn }

func dial(ctx context.Context, address string) (*client, error) {
	conn, _, err := websocket.Dial(ctx, "ws://"+address, nil)
	if err != nil {
		return nil, err
	}
	conn.SetReadLimit(1 << 20)
	return &client{conn}, nil
}

func (c *client) close() { _ = c.conn.CloseNow() }

func (c *client) send(ctx context.Context, message []byte) error {
	return c.conn.Write(ctx, websocket.MessageText, message)
}

// await reads until a message has a prefix, and fails at a message with the failure prefix.
func (c *client) await(ctx context.Context, prefix, failure string) error {
	for {
		_, message, err := c.conn.Read(ctx)
		switch {
		case err != nil:
			return err
		case bytes.HasPrefix(message, []byte(prefix)):
			return nil
		case bytes.HasPrefix(message, []byte(failure)):
			return fmt.Errorf("%w: %s", errRefused, message)
		}
	}
}

var errRefused = errors.New("refused")

func eventMessage(e *nostr.Event) []byte { return fmt.Appendf(nil, `["EVENT",%s]`, e) }

// publish returns after the relay has answered.
func (c *client) publish(ctx context.Context, e *nostr.Event) error {
	message := eventMessage(e)
	if err := c.send(ctx, message); err != nil {
		return err
	}
	return c.await(ctx, fmt.Sprintf(`["OK","%v",true`, e.ID), fmt.Sprintf(`["OK","%v",false`, e.ID))
}

// ask returns after all stored events that match a filter have arrived.
func (c *client) ask(ctx context.Context, filter string) error {
	if err := c.send(ctx, []byte(`["REQ","q",`+filter+`]`)); err != nil {
		return err
	}
	if err := c.await(ctx, `["EOSE","q"`, `["CLOSED","q"`); err != nil {
		return err
	}
	return c.send(ctx, []byte(`["CLOSE","q"]`))
}

// latencies holds the measurements of several clients.
type latencies struct {
	mu      sync.Mutex
	all     []time.Duration
	refused int
	failed  int
}

// add records an operation that began at that time, unless ctx has ended.
func (l *latencies) add(ctx context.Context, began time.Time, err error) {
	if ctx.Err() != nil {
		return
	}
	took := time.Since(began)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case errors.Is(err, errRefused):
		l.refused++
	case err != nil:
		l.failed++
	default:
		l.all = append(l.all, took)
	}
}

// quantile returns the q-quantile of the latencies.
func (l *latencies) quantile(q float64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) == 0 {
		return 0
	}
	slices.Sort(l.all)
	return l.all[max(int(math.Ceil(q*float64(len(l.all))))-1, 0)]
}

func (l *latencies) String() string {
	return fmt.Sprintf("%6d done, p50 %7.2f ms, p99 %7.2f ms, %d refused, %d failed",
		len(l.all), 1e3*l.quantile(0.5).Seconds(), 1e3*l.quantile(0.99).Seconds(), l.refused, l.failed)
}
