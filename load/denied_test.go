package load_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
)

// A system that refuses the source's credentials is left alone for half a minute, because it may
// lock out a user whose password is wrong too often. The event says so at once.
func TestDeniedSourceIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "store"}
		denied := fmt.Errorf("the password is wrong: %w", load.ErrDenied)
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, denied })
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(29 * time.Second)
		if f := w.Snapshot()[0]; f.Polls != 1 || !errors.Is(f.Err, load.ErrDenied) {
			t.Errorf("polled %d times in 29 s, want once: %v", f.Polls, f.Err)
		}
		if kinds := w.kinds(); !slices.Equal(kinds, []load.Kind{load.WentStale}) {
			t.Errorf("reported %v", kinds)
		}
		s.answer(reading("load", 0.5, 1))
		pass(2 * time.Second)
		if f := w.Snapshot()[0]; f.Polls < 10 || f.Err != nil {
			t.Errorf("polled %d times after it was let in: %v", f.Polls, f.Err)
		}
	})
}

// Any other failure is tried again at the next interval.
func TestFailedSourceIsAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "store"}
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, errors.New("connection refused") })
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(2 * time.Second)
		if f := w.Snapshot()[0]; f.Polls < 15 {
			t.Errorf("polled %d times in 2 s", f.Polls)
		}
	})
}

// Before the first valid reading there is none that has an age.
func TestAgeBeforeTheFirstReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "store"}
		s.do(func(context.Context) (load.Sample, error) { return load.Sample{}, errors.New("connection refused") })
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		if f := w.Snapshot()[0]; f.Age != 0 || !errors.Is(f.Err, load.ErrStale) {
			t.Errorf("before the first poll: age %v, %v", f.Age, f.Err)
		}
		pass(10 * time.Second)
		if f := w.Snapshot()[0]; f.Age != 0 || !errors.Is(f.Err, load.ErrStale) {
			t.Errorf("after polls that failed: age %v, %v", f.Age, f.Err)
		}
	})
}

// A sample that names no actuator that there is would be seen by no law.
func TestUnknownActuator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{name: "store"}
		s.do(func(context.Context) (load.Sample, error) {
			return load.Sample{Actuator: 7, Readings: []load.Reading{reading("load", 0.5, 1)}}, nil
		})
		w := start(t, load.Config{Feeds: []load.Feed{{Source: s}}})
		pass(2 * time.Second)
		if f := w.Snapshot()[0]; !errors.Is(f.Err, load.ErrInvalid) {
			t.Errorf("%v", f.Err)
		}
	})
}
