package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

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
		return openFolder(ctx, cmp.Or(at.Embedded, here), config)
	}
	options := []nats.Option{
		nats.Name("weir"), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second),
		nats.IgnoreAuthErrorAbort(),                                     // credentials may be changed here later than there
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), // to miss one that is gone before leases end
	}
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

// here is the folder of the embedded server if none is named.
const here = "weir-jobs"

// tries is how often a queue is opened whose server ends meanwhile, and patience how long it may
// take to answer.
const (
	tries    = 5
	patience = 5 * time.Second
)

func openFolder(ctx context.Context, dir string, config natspool.Config) (*connection, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	local, err := natspool.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	c := &connection{where: dir, close: func() { _ = local.Close() }} // it is the end
	for range tries {
		within, end := context.WithTimeout(ctx, patience)
		err = c.join(within, local.JetStream(), config)
		end()
		if err == nil {
			return c, nil
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	c.close()
	return nil, err
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
