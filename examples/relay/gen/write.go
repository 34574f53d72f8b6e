package gen

import (
	"context"
	"io"
	"runtime"
	"sync"
)

const (
	defaultAuthors = 10_000 // of Write
	batched        = 64     // events that a worker signs at a time: 6 ms of work
)

// A batch is a number of events for a worker to sign.
type batch struct {
	drafts []draft
	lines  chan []byte // has room for the one value
}

// Write writes n events of a Generator with 10,000 authors as JSON lines, nothing for n
// below 1. Several workers sign them; the order is the Generator's, so that the same seed
// always gives the same lines, and the lines of a smaller n are a prefix. It returns early,
// with the error, if the context ends or writing fails.
func Write(ctx context.Context, w io.Writer, n int, seed uint64) error {
	workers := runtime.GOMAXPROCS(0)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()

	unsigned, ordered := make(chan batch), make(chan batch, 2*workers)
	running.Go(func() {
		defer close(unsigned)
		defer close(ordered)
		draftAll(ctx, n, seed, unsigned, ordered)
	})
	for range workers {
		running.Go(func() {
			for b := range unsigned {
				b.lines <- signed(b.drafts)
			}
		})
	}
	for b := range ordered {
		select {
		case lines := <-b.lines:
			if _, err := w.Write(lines); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return ctx.Err()
}

// draftAll passes each batch to a worker, and then to the reader of the lines.
func draftAll(ctx context.Context, n int, seed uint64, unsigned, ordered chan<- batch) {
	g := New(seed, defaultAuthors)
	for n > 0 {
		b := batch{lines: make(chan []byte, 1)}
		for ; n > 0 && len(b.drafts) < batched; n-- {
			b.drafts = append(b.drafts, g.draft())
		}
		for _, to := range []chan<- batch{unsigned, ordered} {
			select {
			case to <- b:
			case <-ctx.Done():
				return
			}
		}
	}
}

// signed signs drafts and returns their lines.
func signed(drafts []draft) (lines []byte) {
	for _, d := range drafts {
		d.sign()
		lines = append(d.AppendJSON(lines), '\n')
	}
	return lines
}
