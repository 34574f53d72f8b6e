package crowd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/weir-go/weir"
)

// A Crowd calls a service at a steady rate, however long earlier calls take.
type Crowd struct {
	Rate     int           // calls a second
	Patience time.Duration // time after which a caller leaves
	Call     func(context.Context) error
	Limiter  *weir.Limiter // optional; its limit is shown
}

// A Tally counts how calls ended.
type Tally struct {
	Asked, InTime, Late, Refused int
}

func (t Tally) since(earlier Tally) Tally {
	return Tally{t.Asked - earlier.Asked, t.InTime - earlier.InTime, t.Late - earlier.Late, t.Refused - earlier.Refused}
}

// score holds the counts of a run.
type score struct {
	mu    sync.Mutex
	tally Tally
	fault error // the first error other than a refusal or a timeout
}

// Run prints a line a second and returns the counts of the second half, after the limit has
// converged.
func (c Crowd) Run(ctx context.Context, out io.Writer, during time.Duration) (Tally, error) {
	fmt.Fprintf(out, "%8s %6s %8s %8s %8s %6s\n", "second", "asked", "in time", "too late", "refused", "limit")
	var (
		s          score
		half, last Tally
		calls      sync.WaitGroup
	)
	calling, stop := context.WithCancel(ctx)
	defer calls.Wait()
	defer stop() // cancels the calls that still wait
	start := time.Now()
	for second := range int(during / time.Second) {
		for i := range c.Rate {
			due := start.Add(time.Duration(second)*time.Second + time.Duration(i)*time.Second/time.Duration(c.Rate))
			if pause(ctx, time.Until(due)); ctx.Err() != nil {
				return Tally{}, nil
			}
			calls.Go(func() { s.note(c.ask(calling)) })
		}
		pause(ctx, time.Until(start.Add(time.Duration(second+1)*time.Second)))
		now, err := s.read()
		if err != nil {
			return Tally{}, err
		}
		line := now.since(last)
		fmt.Fprintf(out, "%8d %6d %8d %8d %8d %6s\n", second+1, c.Rate, line.InTime, line.Late, line.Refused, c.limit())
		if last = now; second+1 == int(during/time.Second)/2 {
			half = now
		}
	}
	return last.since(half), nil
}

func (c Crowd) limit() string {
	if c.Limiter == nil {
		return "none"
	}
	return fmt.Sprint(c.Limiter.Snapshot().Limit)
}

// ask makes one call. If the caller left, the error is the context's.
func (c Crowd) ask(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	err := c.Call(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

func (s *score) note(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tally.Asked++
	switch {
	case err == nil:
		s.tally.InTime++
	case errors.Is(err, weir.ErrRefused):
		s.tally.Refused++
	case errors.Is(err, context.DeadlineExceeded):
		s.tally.Late++
	case errors.Is(err, context.Canceled): // the end of the run
	case s.fault == nil:
		s.fault = err
	}
}

func (s *score) read() (Tally, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tally, s.fault
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}
