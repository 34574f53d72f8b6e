package load_test

import (
	"context"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
)

// fitful is a source that fails in one way on its first polls, and then answers.
type fitful struct {
	polls int
	fail  func()
}

func (*fitful) Name() string { return "fitful" }

func (f *fitful) Poll(context.Context) (load.Sample, error) {
	if f.polls++; f.polls < 30 {
		f.fail()
	}
	return load.Sample{Readings: []load.Reading{{Name: "r", Value: 1, Limit: 2}}}, nil
}

// TestHostileCallbacks: a source and a hook may call every method of the monitor, may panic and may
// end their goroutine. The polls continue, and the errors are reported.
func TestHostileCallbacks(t *testing.T) {
	for name, tells := range map[string]string{"panics": "panicked", "exits": "ended", "calls us": ""} {
		for _, where := range []string{"Poll", "OnEvent"} {
			t.Run(where+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mon *load.Monitor
					act := func() {
						switch name {
						case "panics":
							panic("hostile")
						case "exits":
							runtime.Goexit()
						default:
							mon.Level(load.All)
							mon.Snapshot()
							mon.Drain()
							if err := mon.Run(t.Context()); err == nil {
								t.Error("it runs twice")
							}
						}
					}
					source := &fitful{fail: func() { panic("to have events") }}
					events := 0
					config := load.Config{Feeds: []load.Feed{{Source: source}}, OnEvent: func(load.Event) { events++ }}
					if where == "Poll" {
						source.fail = act
					} else {
						config.OnEvent = func(load.Event) { events++; act() }
					}
					var err error
					if mon, err = load.New(config); err != nil {
						t.Fatal(err)
					}
					ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
					defer cancel()
					time.AfterFunc(2500*time.Millisecond, func() {
						if e := mon.Snapshot()[0].Err; where == "Poll" && tells != "" && (e == nil || !strings.Contains(e.Error(), tells)) {
							t.Errorf("the status says %v", e)
						}
					})
					err = mon.Run(ctx)
					if wrong := where == "OnEvent" && tells != ""; wrong != (err != nil) || wrong && !strings.Contains(err.Error(), tells) {
						t.Errorf("Run returned %v", err)
					}
					if source.polls < 90 || !mon.Level(load.All).Valid {
						t.Errorf("%d polls, %+v", source.polls, mon.Level(load.All))
					}
					if want := 2; (where == "OnEvent" || tells != "") && events != want {
						t.Errorf("%d events, want %d", events, want)
					}
				})
			})
		}
	}
}
