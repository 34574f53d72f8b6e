package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weir-go/weir/internal/handover"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/natspool"
)

// A wanted queue is at a server or in a folder.
type wanted struct {
	handover.Queue
	exists  bool        // it must exist; otherwise a missing queue is made
	waiting func(error) // natspool.Config.Waiting, may be nil
}

// A connection is an open queue, with the address of its server or its folder.
type connection struct {
	*natspool.Queue
	where string
	close func()
}

func open(ctx context.Context, w wanted) (*connection, error) {
	c, js, err := connect(ctx, w)
	if err != nil {
		return nil, err
	}
	err = insist(func() error { return c.join(ctx, js, w) })
	if err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// variable names the server where no flag does. Its URL may have a password.
const variable = "WEIR_NATS"

func connect(ctx context.Context, w wanted) (*connection, jetstream.JetStream, error) {
	if w.Embedded == "" {
		w.Nats = cmp.Or(w.Nats, os.Getenv(variable))
	}
	if w.Nats == "" {
		return connectFolder(ctx, w)
	}
	options := []nats.Option{
		nats.Name("weir"), nats.MaxReconnects(-1), nats.ReconnectWait(time.Second),
		nats.IgnoreAuthErrorAbort(),                                     // the server's credentials may change before the file's
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), // to notice a lost server before leases end
	}
	if w.Creds != "" {
		options = append(options, nats.UserCredentials(w.Creds))
	}
	conn, err := nats.Connect(w.Nats, options...)
	if err != nil {
		return nil, nil, fmt.Errorf("--nats: %w: want the address of a server that runs, such as nats://127.0.0.1:4222", err)
	}
	c := &connection{where: conn.ConnectedUrlRedacted(), close: conn.Close}
	js, err := jetstream.New(conn)
	if err != nil {
		c.close()
	}
	return c, js, err
}

// here is the folder of the embedded server if no flag names a folder.
const here = "weir-jobs"

func connectFolder(ctx context.Context, w wanted) (*connection, jetstream.JetStream, error) {
	dir, err := filepath.Abs(cmp.Or(w.Embedded, here))
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(dir); w.exists && errors.Is(err, fs.ErrNotExist) {
		return nil, nil, usageError{fmt.Errorf("there is no folder %s: want one that weir work or weir enqueue has made", dir)}
	}
	local, err := natspool.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	c := &connection{where: dir, close: func() { _ = local.Close() }} // the program ends
	return c, local.JetStream(), nil
}

// join opens the queue of a connection.
func (c *connection) join(ctx context.Context, js jetstream.JetStream, w wanted) (err error) {
	if w.exists {
		if _, err := js.Stream(ctx, w.Stream); errors.Is(err, jetstream.ErrStreamNotFound) {
			return usageError{fmt.Errorf("there is no stream %s in %s: want one that weir work or weir enqueue has made", w.Stream, c.where)}
		}
	}
	if c.Queue, err = natspool.New(ctx, js, natspool.Config{Stream: w.Stream, Waiting: w.waiting}); err != nil {
		err = fmt.Errorf("%s: %w", c.where, err)
	}
	if errors.Is(err, pool.ErrConfig) { // the name of the stream
		err = usageError{err}
	}
	return err
}

// tries is how often a server is asked that ends meanwhile, as the server of a folder does with its
// process. The client waits 5 s for each answer.
const tries = 5

// insist asks a server again that did not answer in time. It is for requests that do no harm when
// they come twice.
func insist(request func() error) (err error) {
	for range tries {
		if err = request(); !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	return err
}
