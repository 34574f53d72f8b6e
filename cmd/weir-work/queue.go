package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// A connection is a queue that is open, and where it is.
type connection struct {
	*natspool.Queue
	where string
	close func()
}

// open opens a queue, at a server or in a folder. waiting may be nil: natspool.Config has it.
func open(ctx context.Context, at handover.Queue, waiting func(error)) (*connection, error) {
	config := natspool.Config{Stream: at.Stream, Waiting: waiting}
	if at.Nats == "" {
		return openFolder(ctx, at.Embedded, config)
	}
	options := []nats.Option{nats.Name("weir"), nats.MaxReconnects(-1)}
	if at.Creds != "" {
		options = append(options, nats.UserCredentials(at.Creds))
	}
	conn, err := nats.Connect(at.Nats, options...)
	if err != nil {
		return nil, fmt.Errorf("--nats: %w: want the address of a server that runs, such as nats://127.0.0.1:4222", err)
	}
	c := &connection{where: conn.ConnectedUrlRedacted(), close: conn.Close}
	js, err := jetstream.New(conn)
	if err == nil {
		err = c.join(ctx, js, config)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return c, nil
}

func (c *connection) join(ctx context.Context, js jetstream.JetStream, config natspool.Config) (err error) {
	if c.Queue, err = natspool.New(ctx, js, config); err != nil {
		err = fmt.Errorf("%s: %w", c.where, err)
	}
	if errors.Is(err, pool.ErrConfig) { // the name of the stream
		err = usageError{err}
	}
	return err
}
