package load_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
)

// A hostileError runs a function in its methods.
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

// A nosyError calls the monitor whenever it is asked anything.
type nosyError struct{ ask func() }

func (e nosyError) Error() string { e.ask(); return "nosy" }
func (e nosyError) Is(error) bool { e.ask(); return false }

// No lock is held while a method of an error runs.
func TestErrorsMayCallTheMonitor(t *testing.T) {
	for where, sample := range map[string]func(error) (load.Sample, error){
		"poll": func(err error) (load.Sample, error) { return load.Sample{}, err },
		"reading": func(err error) (load.Sample, error) {
			return load.Sample{Readings: []load.Reading{{Name: "x", Limit: 1, Err: err}}}, nil
		},
		"unavailable": func(err error) (load.Sample, error) { return load.Sample{}, errors.Join(load.ErrUnavailable, err) },
	} {
		t.Run(where, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var m *load.Monitor
				asked := 0
				nosy := nosyError{func() {
					asked++
					m.Level(load.All)
					m.Snapshot()
					m.Drain()
				}}
				m, err := load.New(load.Config{
					Feeds:   []load.Feed{{Source: said(func() (load.Sample, error) { return sample(nosy) })}},
					OnEvent: func(e load.Event) { _ = e.String() },
				})
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := m.Run(ctx); err != nil {
					t.Error(err)
				}
				s := m.Snapshot()[0]
				if asked == 0 || s.Err == nil || !strings.Contains(s.Err.Error(), "nosy") || s.Missing != (where == "unavailable") {
					t.Errorf("asked %d times: %+v", asked, s)
				}
				if _, ok := errors.AsType[nosyError](s.Err); !ok {
					t.Errorf("%v does not lead to the error of the source", s.Err)
				}
			})
		})
	}
}

// said is a source with the results of a function.
type said func() (load.Sample, error)

func (said) Name() string                                { return "said" }
func (s said) Poll(context.Context) (load.Sample, error) { return s() }
