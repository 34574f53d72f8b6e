package bulk

import (
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/memory"
)

var errStop = errors.New("stop")

// An import that stops for any reason releases the bytes of the lines that it read: otherwise
// other users of its governor would stop after a few such imports. All lines fit in the smallest
// budget, so that a line that keeps its bytes fails the test and does not hang it.
func TestImportsThatStopGiveTheirBytesBack(t *testing.T) {
	lines := strings.Repeat(strings.Repeat("x", 100)+"\n", 500)
	for name, test := range map[string]struct {
		source func() io.Reader
		write  func(n int64, cancel func()) error // from line 100 on
		sync   func() error
		conf   Config
	}{
		"Write fails":     {write: func(int64, func()) error { return errStop }},
		"Write panics":    {write: func(int64, func()) error { panic("boom") }},
		"Write exits":     {write: func(int64, func()) error { runtime.Goexit(); return nil }},
		"cancelled":       {write: func(_ int64, cancel func()) error { cancel(); return nil }},
		"the source ends": {source: func() io.Reader { return io.MultiReader(strings.NewReader(lines), iotest.ErrReader(errStop)) }},
		"a reject behind a failure": {write: func(n int64, _ func()) error {
			if n%2 == 0 {
				return Reject(errStop)
			}
			time.Sleep(time.Millisecond) // other lines are rejected meanwhile
			return errStop
		}},
		"no end of a line": {source: func() io.Reader { return zeros{} }, conf: Config{MaxLine: 64 << 10}},
		"a long line breaks": {
			source: func() io.Reader {
				return io.MultiReader(strings.NewReader(lines), io.LimitReader(zeros{}, 2*readBuffer), iotest.ErrReader(errStop))
			},
			conf: Config{MaxLine: 64 << 10},
		},
		"too long":   {conf: Config{MaxLine: 10}},
		"Sync fails": {sync: func() error { return errStop }, write: slowly},
		"Sync fails behind rejects": {
			sync:  func() error { time.Sleep(time.Second); return errStop },
			write: func(int64, func()) error { time.Sleep(10 * time.Millisecond); return Reject(errStop) },
		},
		"Sync panics": {sync: func() error { panic("boom") }, write: slowly},
	} {
		for _, keeps := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				gov := must.Have(memory.New(memory.Config{Target: 16 << 20}))(t)
				defer gov.Close()
				var err error
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					c := test.conf
					c.Memory, c.Workers, c.Sync = gov, 8, test.sync
					c.Write = func(_ context.Context, l Line) error {
						if test.write == nil || l.Number < 100 {
							return nil
						}
						return test.write(l.Number, cancel)
					}
					c.Journal, _ = files(t)
					if keeps {
						_, c.Rejects = files(t)
					}
					source := io.Reader(strings.NewReader(lines))
					if test.source != nil {
						source = test.source()
					}
					_, err = Run(ctx, source, c)
				})
				if err == nil && name != "too long" {
					t.Error("no error")
				}
				if s := gov.Snapshot(); s.InFlight != 0 {
					t.Errorf("%d bytes are in flight after %v", s.InFlight, err)
				}
			})
		}
	}
}

func slowly(int64, func()) error {
	time.Sleep(100 * time.Millisecond)
	return nil
}

// A line is not lost whose Write rejects it because the import stops.
func TestRejectOfTheEndOfTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var c Config
	c.Journal, c.Rejects = files(t)
	c.Write = func(ctx context.Context, _ Line) error {
		cancel()
		<-ctx.Done()
		return Reject(ctx.Err())
	}
	if p, err := Run(ctx, strings.NewReader(numbered(3)), c); !errors.Is(err, context.Canceled) || p.Lines != 0 {
		t.Errorf("%d lines are in after %v", p.Lines, err)
	}
	if all := rejected(t, c.Rejects); len(all) > 0 {
		t.Errorf("%+v are rejected", all)
	}
}

// Sync is called when lines were acknowledged since the last time, and only then.
func TestSyncWithoutAJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var synced int
		var problem func() error // of the context of the last write
		c := Config{Sync: func() error { synced++; return nil }, Write: func(ctx context.Context, l Line) error {
			if l.Number == 3 {
				problem = ctx.Err
				time.Sleep(time.Minute)
			}
			return nil
		}}
		p, err := Run(t.Context(), strings.NewReader(numbered(3)), c)
		if err != nil || p.Lines != 3 || synced != 2 {
			t.Errorf("%d lines are in and %d times durable, want 3 and 2 times: %v", p.Lines, synced, err)
		}
		if problem() == nil {
			t.Error("the context of Write outlives the import")
		}
	})
}
