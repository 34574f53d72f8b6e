package load_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// A hostileError runs a function in its methods.
type hostileError func()

func (e hostileError) Error() string { e(); return "hostile" }
func (e hostileError) Is(error) bool { e(); return false }

// fitful is a source that fails in one way on its first polls, and then answers.
type fitful struct {
	polls int
	fail  func() (load.Sample, error)
}

func (*fitful) Name() string { return "fitful" }

func (f *fitful) Poll(context.Context) (load.Sample, error) {
	if f.polls++; f.polls < 30 {
		return f.fail()
	}
	return sample(reading("r", 1, 2)), nil
}

// TestHostileCallbacks: a source, the methods of its errors and a hook may call every method of the
// monitor, may panic and may end their goroutine. The polls continue, and the errors are reported.
func TestHostileCallbacks(t *testing.T) {
	for how, says := range map[string]string{"panics": "panicked", "exits": "ended", "calls us": "hostile"} {
		for where, fail := range map[string]func(act func()) (load.Sample, error){
			"Poll":          func(act func()) (load.Sample, error) { act(); return load.Sample{}, errors.New("hostile") },
			"error of Poll": func(act func()) (load.Sample, error) { return load.Sample{}, hostileError(act) },
			"error of a reading": func(act func()) (load.Sample, error) {
				return sample(load.Reading{Name: "r", Limit: 1, Err: hostileError(act)}), nil
			},
			"missing": func(act func()) (load.Sample, error) {
				return load.Sample{}, errors.Join(load.ErrUnavailable, hostileError(act))
			},
			"OnEvent": nil,
		} {
			t.Run(where+" "+how, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { testHostile(t, where, how, says, fail) })
			})
		}
	}
}

func testHostile(t *testing.T, where, how, says string, fail func(act func()) (load.Sample, error)) {
	var mon *load.Monitor
	act := func() {
		switch how {
		case "panics":
			panic("boom")
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
	source := &fitful{fail: func() (load.Sample, error) { return fail(act) }}
	events := 0
	config := load.Config{Feeds: []load.Feed{{Source: source}}, OnEvent: func(e load.Event) { events++; _ = e.String() }}
	if where == "OnEvent" {
		source.fail = func() (load.Sample, error) { return load.Sample{}, errors.New("to have events") }
		config.OnEvent = func(load.Event) { events++; act() }
	}
	mon = must.Have(load.New(config))(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	time.AfterFunc(2500*time.Millisecond, func() {
		s := mon.Snapshot()[0]
		if where != "OnEvent" && (s.Err == nil || !strings.Contains(s.Err.Error(), says)) {
			t.Errorf("the status says %v", s.Err)
		}
		if missing := where == "missing" && how == "calls us"; missing != s.Missing {
			t.Errorf("missing is %v", s.Missing)
		}
	})
	err := mon.Run(ctx)
	if wrong := where == "OnEvent" && how != "calls us"; wrong != (err != nil) || wrong && !strings.Contains(err.Error(), says) {
		t.Errorf("Run returned %v", err)
	}
	if source.polls < 90 || !mon.Level(load.All).Valid || events != 2 {
		t.Errorf("%d polls, %d events, %+v", source.polls, events, mon.Level(load.All))
	}
}
