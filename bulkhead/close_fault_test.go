package bulkhead_test

import (
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/law"
)

// breaks panics, or exits, when a window closes.
type breaks struct{ how func() }

func (b breaks) Controller(law.Bounds) (law.Controller, error) { return b, nil }

func (b breaks) Next(w law.Window) law.Decision {
	if w.Elapsed > 0 {
		b.how()
	}
	return law.Decision{Limit: float64(w.Limit)}
}

// A law that panics as a set is closed, or ends the goroutine, leaves no key open.
func TestCloseWithAFaultIsWhole(t *testing.T) {
	for name, how := range map[string]func(){"panic": func() { panic("boom") }, "exit": runtime.Goexit} {
		for call, closes := range map[string]func(s *bulkhead.Set){
			"close":    (*bulkhead.Set).Close,
			"shutdown": func(s *bulkhead.Set) { _ = s.Shutdown(t.Context()) },
		} {
			t.Run(call+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					keys := []string{"a", "b", "c", "d"}
					config := bulkhead.Config{ByKey: byKey{}}
					for _, key := range keys {
						config.ByKey[key] = bulkhead.Compartment{Config: weir.Config{Law: law.Fixed{}}}
					}
					config.ByKey["b"] = bulkhead.Compartment{Config: weir.Config{Law: breaks{how}, MinSamples: 1}}
					s := newSet(t, config)
					hold(t, s, "b", 1)[0].Done(nil)
					time.Sleep(2 * time.Second)
					leaves(t, func() { closes(s) })
					for _, key := range keys {
						if _, err := s.Acquire(t.Context(), key); !errors.Is(err, weir.ErrClosed) {
							t.Errorf("%s: %v: want it closed", key, err)
						}
					}
				})
			})
		}
	}
}
