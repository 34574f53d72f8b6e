package main

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/weir-go/weir/pool/natspool"
)

// here is the folder of the embedded server if none is named.
const here = "weir-jobs"

// A keeper has the server of a folder go on when the process that ran it ends, such as one that
// only has added a job: then this process opens the folder anew, and so runs the server if no other
// does.
type keeper struct {
	dir string

	mu     sync.Mutex
	opened []*natspool.Local
	closed bool
}

// tries is how often a queue is opened whose server ends meanwhile, and patience how long it may
// take to answer.
const (
	tries    = 5
	patience = 5 * time.Second
)

func openFolder(ctx context.Context, dir string, config natspool.Config) (c *connection, err error) {
	k := new(keeper)
	if k.dir, err = filepath.Abs(cmp.Or(dir, here)); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	c = &connection{where: k.dir, close: func() { cancel(); k.close() }}
	for range tries {
		var local *natspool.Local
		if local, err = k.open(ctx); err != nil {
			break
		}
		within, end := context.WithTimeout(ctx, patience)
		err = c.join(within, local.JetStream(), config)
		end()
		if err == nil {
			local.JetStream().Conn().SetDisconnectErrHandler(func(*nats.Conn, error) { go k.takeOver(ctx) })
			return c, nil
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	c.close()
	return nil, err
}

// open opens the folder once more.
func (k *keeper) open(ctx context.Context) (*natspool.Local, error) {
	local, err := natspool.Open(ctx, k.dir)
	if err != nil {
		return nil, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, errors.Join(errStopped, local.Close())
	}
	k.opened = append(k.opened, local)
	return local, nil
}

// takeOver opens the folder until that succeeds.
func (k *keeper) takeOver(ctx context.Context) {
	for ctx.Err() == nil {
		if _, err := k.open(ctx); err == nil {
			return
		}
	}
}

// close closes all in the order in which they were opened: the connections of a queue end before a
// server that was opened later.
func (k *keeper) close() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.closed = true
	for _, local := range k.opened {
		_ = local.Close() // it is the end
	}
}
