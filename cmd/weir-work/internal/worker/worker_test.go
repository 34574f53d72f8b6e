package worker

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/cmd/weir-work/internal/command"
	"github.com/weir-go/weir/cmd/weir-work/internal/view"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/pool/sourcetest"
)

// seen is a view that remembers.
type seen struct {
	last   view.Figures
	notes  []string
	closed bool
	faults int
}

func (s *seen) Show(f view.Figures) {
	if s.last = f; f.Fault != nil {
		s.faults++
	}
}
func (s *seen) Note(_ time.Time, text string) { s.notes = append(s.notes, text) }
func (s *seen) Close()                        { s.closed = true }

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

func config(source pool.Source, v view.View) Config {
	return Config{Source: source, View: v, Max: 10, Attempts: 3, Backoff: time.Second, Grace: 5 * time.Second, Trouble: func() error { return nil }, Look: func(*pool.Pool) error { return nil }}
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
		var v seen
		must.Do(t, Run(t.Context(), config(source, &v)))
		f := v.last
		if f.Done != 98 || f.Failed != 5 || f.Rejected != 2 || f.Running != 0 || f.Backlog.Count != 0 || f.Reason == "" {
			t.Errorf("%+v", f)
		}
		if left, dead := source.Left(), len(source.DeadLetters()); left != 0 || dead != 2 || !v.closed {
			t.Errorf("%d left, %d dead letters, closed: %v", left, dead, v.closed)
		}
		notes := strings.Join(v.notes, "\n")
		for _, want := range []string{"job 7, attempt 1, bad", "job 7, attempt 3, is a dead letter: bad", "job 8, attempt 1, is a dead letter: bad", "job 9, attempt 1, bad"} {
			if !strings.Contains(notes, want) {
				t.Errorf("no %q in %s", want, notes)
			}
		}
	})
}

// TestStop: what runs ends, and nothing more starts.
func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, tasks(100, func(int, int) error { return nil }))
		var v seen
		c := config(source, &v)
		stop := make(chan struct{})
		c.Stop = stop
		time.AfterFunc(2500*time.Millisecond, func() { close(stop) })
		if err := Run(t.Context(), c); err != nil {
			t.Error(err)
		}
		if done := int(v.last.Done); v.last.Failed != 0 || !v.last.Stopping || int(v.last.Backlog.Count) < 100-done || done < 3 || done > 30 || source.Left() != 100-done {
			t.Errorf("%d done, %d failed, %d left", done, v.last.Failed, source.Left())
		}
	})
}

// TestTrouble: it is noted once, and shown while it lasts.
func TestTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := sourcetest.NewMemory(time.Minute, tasks(100, func(int, int) error { return nil }))
		var v seen
		c := config(source, &v)
		began, faults := time.Now(), 0
		c.Trouble = func() error {
			if since := time.Since(began); since > 2*time.Second && since < 5*time.Second {
				faults++
				return errors.New("no server")
			}
			return nil
		}
		if err := Run(t.Context(), c); err != nil {
			t.Error(err)
		}
		if notes := strings.Join(v.notes, ", "); notes != "no server, the source is back" || faults < 2 || v.faults != faults {
			t.Errorf("notes %q; %d faults, %d of them shown", notes, faults, v.faults)
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
		if err := Run(ctx, config(source, new(seen))); !errors.Is(err, why) {
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
		if err := Run(t.Context(), config(source, new(seen))); !errors.Is(err, command.ErrStart) {
			t.Errorf("%v, want %v", err, command.ErrStart)
		}
		if left := source.Left(); left != 100 || len(source.DeadLetters()) > 0 {
			t.Errorf("%d of 100 left", left)
		}
	})
}

func TestConfig(t *testing.T) {
	c := config(pool.Slice(nil), new(seen))
	c.Max = 0
	if err := Run(t.Context(), c); err == nil {
		t.Error("no error about a Max of 0")
	}
}
