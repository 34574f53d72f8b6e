package worker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/cmd/weir-work/internal/command"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// tasks returns n tasks that take a second and end with the errors that fail returns.
func tasks(n int, fail func(i, attempt int) error) (all []pool.Task) {
	for i := range n {
		attempt := 0
		all = append(all, pool.Task{Key: fmt.Sprint(i), Run: func(ctx context.Context) (any, error) {
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
			attempt++
			return nil, fail(i, attempt)
		}})
	}
	return all
}

// run runs the tasks of a source.
func run(ctx context.Context, t *testing.T, source pool.Source, c Config) error {
	t.Helper()
	c.Max = 10
	slots := must.Have(capacity.New(capacity.Vector{"jobs": c.Max}))(t)
	p := must.Have(pool.New(pool.Config{
		Capacity: slots, Source: source, Scaler: pool.ByLaw{}, MaxAttempts: 3, Redeliver: time.Second, Grace: 5 * time.Second,
	}))(t)
	return Run(ctx, p, c)
}

func TestWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("bad")
		source := sourcetest.NewMemory(time.Minute, tasks(100, func(i, attempt int) error {
			switch {
			case i == 7:
				return bad
			case i == 8:
				return pool.Permanent(bad)
			case i == 9 && attempt == 1:
				return bad
			}
			return nil
		}))
		var out, notes strings.Builder
		must.Do(t, run(t.Context(), t, source, Config{Out: &out, Notes: &notes}))
		if lines := out.String(); strings.Contains(lines, "about") || !regexp.MustCompile(`Z backlog 0; running 0 of \d+ \(.+\); done 98, failed 5, dead letters 2\n$`).MatchString(lines) {
			t.Error(lines)
		}
		if n := strings.Count(out.String(), "\n"); n < 2 {
			t.Errorf("%d lines, want one each ten seconds", n)
		}
		if left, dead := source.Left(), len(source.DeadLetters()); left != 0 || dead != 2 {
			t.Errorf("%d left, %d dead letters", left, dead)
		}
		for _, want := range []string{`job "7", attempt 1, bad`, `job "7", attempt 3, is a dead letter: bad`, `job "8", attempt 1, is a dead letter: bad`, `job "9", attempt 1, bad`} {
			if !strings.Contains(notes.String(), want+"\n") {
				t.Errorf("no %q in %s", want, &notes)
			}
		}
	})
}

// TestStop: running jobs end, and no more start.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, tasks(100, func(int, int) error { return nil }))
		var out strings.Builder
		stop := make(chan struct{})
		time.AfterFunc(2500*time.Millisecond, func() { close(stop) })
		must.Do(t, run(t.Context(), t, source, Config{Out: &out, Notes: io.Discard, Stop: stop}))
		if done := 100 - source.Left(); done < 3 || done > 30 || !strings.HasSuffix(out.String(), fmt.Sprintf("; done %d, failed 0, dead letters 0\n", done)) {
			t.Errorf("%d done, and in the end %s", done, &out)
		}
	})
}

// mute is a source that does not know its backlog.
type mute struct{ *sourcetest.MemorySource }

func (mute) Backlog(context.Context) (pool.Depth, error) {
	return pool.Depth{}, errors.New("no server")
}

func TestBacklogIsNotKnown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := mute{sourcetest.NewMemory(time.Minute, tasks(100, func(int, int) error { return nil }))}
		var out strings.Builder
		must.Do(t, run(t.Context(), t, source, Config{Out: &out, Notes: io.Discard}))
		if !strings.Contains(out.String(), "Z backlog not known: pool: the source failed: Backlog: no server; running ") {
			t.Error(out.String())
		}
	})
}

// TestCut: the end of the context ends jobs, and they come back.
func TestCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, tasks(100, func(int, int) error { return nil }))
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("stopped")
		time.AfterFunc(500*time.Millisecond, func() { cancel(why) })
		if err := run(ctx, t, source, Config{Out: io.Discard, Notes: io.Discard}); !errors.Is(err, why) {
			t.Errorf("%v, want %v", err, why)
		}
		if d, err := source.Backlog(t.Context()); err != nil || d.Count != 100 {
			t.Errorf("%v, %v: want all 100 to come back", d, err)
		}
	})
}

// TestCommandThatIsGone: the worker ends, because it would make dead letters of all jobs.
func TestCommandThatIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, tasks(100, func(int, int) error { return command.ErrStart }))
		if err := run(t.Context(), t, source, Config{Out: io.Discard, Notes: io.Discard}); !errors.Is(err, command.ErrStart) {
			t.Errorf("%v, want %v", err, command.ErrStart)
		}
		if left := source.Left(); left != 100 || len(source.DeadLetters()) > 0 {
			t.Errorf("%d of 100 left", left)
		}
	})
}
