package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// A watched source is polled by a monitor.
type watched struct{ *load.Monitor }

// watch polls a source for the duration of the test.
func watch(t *testing.T, source load.Source) watched {
	t.Helper()
	mon := must.Have(load.New(load.Config{
		Sources: []load.Source{source}, Interval: 300 * time.Millisecond, // so that a reading is valid for 3 s
		OnEvent: func(e load.Event) { t.Log(e) },
	}))(t)
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- mon.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return watched{mon}
}

// outlives checks that a source answers again after its server hung, and after it restarted.
func outlives(t *testing.T, s *Server, source load.Source) {
	t.Helper()
	m := watch(t, source)
	for _, fault := range []struct{ begin, end func(testing.TB) }{{s.Freeze, s.Thaw}, {s.Kill, s.Restart}} {
		m.answers(t)
		fault.begin(t)
		m.goesStale(t)
		fault.end(t)
	}
	m.answers(t)
}

// values polls and returns the readings by name.
func values(t *testing.T, source load.Source) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for _, r := range must.Have(source.Poll(t.Context()))(t).Readings {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
		values[r.Name] = r.Value
	}
	return values
}

// until polls until the readings satisfy ok.
func until(t *testing.T, source load.Source, what string, ok func(map[string]float64) bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for have := values(t, source); !ok(have); have = values(t, source) {
		if time.Now().After(deadline) {
			t.Fatalf("want %s, still have %v", what, have)
		}
	}
}

// answers waits until all readings are valid, for the first time or again.
func (w watched) answers(t *testing.T) {
	t.Helper()
	w.until(t, "all readings valid", func(l load.Level) bool { return l.Valid && !l.Degraded })
}

// goesStale waits until no reading is valid, and returns why.
func (w watched) goesStale(t *testing.T) error {
	t.Helper()
	w.until(t, "no reading valid", func(l load.Level) bool { return !l.Valid && l.Degraded })
	return w.Snapshot()[0].Err
}

func (w watched) until(t *testing.T, what string, ok func(load.Level) bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !ok(w.Level(load.All)) {
		if time.Now().After(deadline) {
			t.Fatalf("never %s: %+v", what, w.Snapshot())
		}
		<-time.After(time.Millisecond)
	}
}
