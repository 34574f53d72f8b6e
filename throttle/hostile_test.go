package throttle_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// TestHostileCallbacks: an action and a hook may call every method of the throttle, may panic and
// may end their goroutine. The decisions continue, and the errors are reported.
func TestHostileCallbacks(t *testing.T) {
	for name, tells := range map[string]string{"panics": "panicked", "exits": "ended", "calls us": ""} {
		for _, where := range []string{"action", "OnEvent"} {
			t.Run(where+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					p := &plant{}
					p.says(0.95)
					mon, err := load.New(load.Config{Feeds: []load.Feed{{Source: p}}})
					if err != nil {
						t.Fatal(err)
					}
					var th *throttle.Throttle
					act := func() {
						switch name {
						case "panics":
							panic("hostile")
						case "exits":
							runtime.Goexit()
						default:
							th.Snapshot()
							if err := th.Do(ctx, throttle.Write, 1, func(context.Context) error { return nil }); err != nil {
								t.Error(err)
							}
							if err := th.Run(ctx); err == nil {
								t.Error("it runs twice")
							}
						}
					}
					acted, told := 0, 0
					config := throttle.Config{
						Monitor: mon,
						Actions: []throttle.Action{{Name: "a", Do: func(context.Context) error { acted++; return nil }}},
						OnEvent: func(e throttle.Event) {
							if told++; where == "action" && tells != "" && (e.Err == nil || !strings.Contains(e.Err.Error(), tells)) {
								t.Errorf("%v: want that it %s", e, name)
							}
						},
					}
					if where == "action" {
						config.Actions[0].Do = func(context.Context) error { acted++; act(); return nil }
					} else {
						config.OnEvent = func(throttle.Event) { told++; act() }
					}
					if th, err = throttle.New(config); err != nil {
						t.Fatal(err)
					}
					go func() { _ = mon.Run(ctx) }()
					err = th.Run(ctx)
					if wrong := where == "OnEvent" && tells != ""; wrong != (err != nil) || wrong && !strings.Contains(err.Error(), tells) {
						t.Errorf("Run returned %v", err)
					}
					if acted < 5 || told < acted {
						t.Errorf("acted %d times, told %d times", acted, told)
					}
				})
			})
		}
	}
}

// TestStartWithAHookThatPanics: the operation that finds that Run is not at work starts all the
// same.
func TestStartWithAHookThatPanics(t *testing.T) {
	for name, act := range map[string]func(){"panics": func() { panic("hostile") }, "exits": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			told := 0
			th, err := throttle.New(throttle.Config{OnEvent: func(throttle.Event) { told++; act() }})
			if err != nil {
				t.Fatal(err)
			}
			pass(time.Second)
			done := make(chan any, 1)
			go func() {
				defer func() { done <- recover() }()
				op, err := th.Start(t.Context(), throttle.Write, 1)
				if err != nil {
					t.Errorf("OnEvent %s: %v", name, err)
				}
				op.Done(nil)
			}()
			if panicked := <-done; panicked != nil {
				t.Errorf("OnEvent %s, and Start with it: %v", name, panicked)
			}
			if told != 1 {
				t.Errorf("OnEvent %s: told %d times, want 1", name, told)
			}
		})
	}
}

// panickingError is an error whose methods panic.
type panickingError struct{}

func (panickingError) Error() string { return "hostile" }

func (panickingError) Is(error) bool { panic("hostile") }

// TestErrorThatPanicsLeaksNoSlot: an error of the work is asked whether it is that of its context.
func TestErrorThatPanicsLeaksNoSlot(t *testing.T) {
	th, err := throttle.New(throttle.Config{Writes: throttle.Side{MaxInFlight: 1}})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		func() {
			defer func() { _ = recover() }()
			_ = th.Do(ctx, throttle.Write, 1, func(context.Context) error { cancel(); return panickingError{} })
		}()
	}
	if n := th.Snapshot().Writes.Limiter.InFlight; n != 0 {
		t.Errorf("%d are in flight, want 0", n)
	}
}
