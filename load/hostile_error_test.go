package load_test

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
)

// A hostileError does what it is told when it is asked what it is.
type hostileError func()

func (e hostileError) Error() string { return "hostile" }
func (e hostileError) Is(error) bool { e(); return false }

// A source whose errors panic, or end their goroutine, is stale, and the polls of the others go on.
func TestHostileErrors(t *testing.T) {
	for name, act := range map[string]func(){"panics": func() { panic("boom") }, "exits": runtime.Goexit} {
		for where, sample := range map[string]func() (load.Sample, error){
			"poll": func() (load.Sample, error) { return load.Sample{}, hostileError(act) },
			"reading": func() (load.Sample, error) {
				return load.Sample{Readings: []load.Reading{{Name: "x", Limit: 1, Err: hostileError(act)}}}, nil
			},
		} {
			t.Run(where+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					m, err := load.New(load.Config{Feeds: []load.Feed{{Source: said(sample)}}})
					if err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					if err := m.Run(ctx); err != nil {
						t.Error(err)
					}
					if s := m.Snapshot()[0]; s.Err == nil || s.Polls < 10 {
						t.Errorf("%+v: want it stale after many polls", s)
					}
				})
			})
		}
	}
}

// said is a source that says what a function returns.
type said func() (load.Sample, error)

func (said) Name() string                                { return "said" }
func (s said) Poll(context.Context) (load.Sample, error) { return s() }
