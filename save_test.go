package weir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// A student is a law that notes the knowledge it resumes from.
type student struct{ learned *law.Knowledge }

func (s student) Controller(b law.Bounds) (law.Controller, error) {
	return studentController{s, b.Initial}, nil
}

type studentController struct {
	student
	limit int
}

func (c studentController) Next(law.Window) law.Decision {
	return law.Decision{Limit: float64(c.limit)}
}

func (c studentController) Learned(int) law.Knowledge {
	return law.Knowledge{Limit: 37, NoLoad: 5 * time.Millisecond}
}
func (c studentController) Resume(k law.Knowledge) { *c.learned = k }

func TestRestore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got law.Knowledge
		conf := weir.Config{Max: 100, Law: student{&got}}
		state := newLimiter(t, conf).Save()
		for _, c := range []struct {
			age    time.Duration
			max    int
			limit  int
			noLoad time.Duration
		}{
			{0, 100, 37, 5 * time.Millisecond},
			{30 * time.Minute, 30, 30, 5 * time.Millisecond},
			{time.Hour, 100, 37, 0},
		} {
			time.Sleep(c.age)
			got = law.Knowledge{}
			conf.Max = c.max
			l := newLimiter(t, conf)
			must.Do(t, l.Restore(state))
			if limit := l.Snapshot().Limit; limit != c.limit || got != (law.Knowledge{Limit: c.limit, NoLoad: c.noLoad}) {
				t.Errorf("after %v: a limit of %d, and the law got %v", c.age, limit, got)
			}
		}
	})
}

func TestRestoreRefuses(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: "search"})
	for state, want := range map[string]string{
		"":                              "EOF: want what Save returned",
		"limit: 20":                     "want what Save returned",
		`{"version":1,"limit":"many"}`:  "want what Save returned",
		`{"version":1} {"version":1}`:   "more after the first JSON value",
		`{"version":2,"limit":20}`:      "version 2, and this program reads 1",
		`{"version":1,"limit":-1}`:      "limit is -1: want 0 to 1000000000",
		`{"version":1,"no_load_ns":-1}`: "no_load_ns is -1: want 0 to 86400000000000",

		`{"version":1,"limit":9,"law":"law.AIMD"}`: "it is of law.AIMD, and the limiter has law.Setpoint: start without it",
	} {
		err := l.Restore([]byte(state))
		if !errors.Is(err, weir.ErrConfig) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `"search"`) {
			t.Errorf("%q: %v, want %q", state, err, want)
		}
		if limit := l.Snapshot().Limit; limit != 4 {
			t.Errorf("%q: a limit of %d", state, limit)
		}
	}
}

// No state breaks a limiter.
func FuzzRestore(f *testing.F) {
	f.Add([]byte(`{"version":1,"saved":"2026-11-26T12:00:00Z","law":"law.Setpoint","limit":23,"no_load_ns":48000000}`))
	f.Add([]byte(`{"version":1,"saved":"9999-11-26T12:00:00Z","law":"law.Setpoint","limit":1000000000,"no_load_ns":1}`))
	f.Fuzz(func(t *testing.T, state []byte) {
		l := newLimiter(t, weir.Config{Min: 2, Max: 50})
		err := l.Restore(state)
		if s := l.Snapshot(); s.Limit < 2 || s.Limit > 50 || err != nil && (s.Limit != 4 || !errors.Is(err, weir.ErrConfig)) {
			t.Errorf("%v, a limit of %d", err, s.Limit)
		}
		must.Do(t, l.Do(t.Context(), func(context.Context) error { return nil }))
	})
}
