package gen

import (
	"context"
	"io"
	"runtime"
	"sync"

	"github.com/weir-go/weir/examples/relay/protocol"
)

const (
	defaultAuthors = 10_000 // of Write
	batched        = 64     // events that a processor signs at a time: 6 ms of work
)

// Write writes n events of a Generator with 10,000 authors as JSON lines, nothing for n
// below 1. All processors sign; the order is the Generator's, so that the same seed always
// gives the same lines, and the lines of a smaller n are a prefix. It returns early, with the
// error, if the context ends or writing fails.
func Write(ctx context.Context, w io.Writer, n int, seed uint64) error {
	g, processors := New(seed, defaultAuthors), runtime.GOMAXPROCS(0)
	for n > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		drafts := make([]draft, min(n, batched*processors))
		n -= len(drafts)
		for i := range drafts {
			drafts[i] = g.draft()
		}
		signAll(drafts, processors)
		var lines []byte
		for i := range drafts {
			lines = append(protocol.AppendJSON(lines, &drafts[i].Event), '\n')
		}
		if _, err := w.Write(lines); err != nil {
			return err
		}
	}
	return nil
}

func signAll(drafts []draft, processors int) {
	var signing sync.WaitGroup
	for first := range processors {
		signing.Go(func() {
			for i := first; i < len(drafts); i += processors {
				drafts[i].sign()
			}
		})
	}
	signing.Wait()
}
