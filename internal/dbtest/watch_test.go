package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// A watched source is polled by a monitor.
type watched struct {
	monitor *load.Monitor
	events  chan load.Event
}

// watch has a source polled for as long as the test.
func watch(t *testing.T, source load.Source) *watched {
	t.Helper()
	w := &watched{events: make(chan load.Event, 100)}
	var err error
	w.monitor, err = load.New(load.Config{
		Feeds:    []load.Feed{{Source: source}},
		Interval: 100 * time.Millisecond, Timeout: 2 * time.Second, MaxAge: 3 * time.Second,
		OnEvent: func(e load.Event) { w.events <- e },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- w.monitor.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return w
}

// answers waits for the first reading.
func (w *watched) answers(t *testing.T) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !w.monitor.Level(load.All).Valid {
		if time.Now().After(deadline) {
			t.Fatalf("no reading: %+v", w.monitor.Status())
		}
		<-time.After(time.Millisecond)
	}
}

// goesStale waits until the monitor says that the source is silent, and then holds what it
// says for nothing.
func (w *watched) goesStale(t *testing.T) load.Event {
	t.Helper()
	stale := w.expect(t, load.WentStale)
	if l := w.monitor.Level(load.All); l.Valid || !l.Degraded {
		t.Errorf("the source is stale, and the level is %+v", l)
	}
	return stale
}

// comesBack waits until the source answers again.
func (w *watched) comesBack(t *testing.T) {
	t.Helper()
	w.expect(t, load.CameBack)
	if l := w.monitor.Level(load.All); !l.Valid {
		t.Errorf("the source answers again, and the level is %+v", l)
	}
}

func (w *watched) expect(t *testing.T, kind load.Kind) load.Event {
	t.Helper()
	for {
		select {
		case e := <-w.events:
			t.Log(e)
			if e.Kind == kind {
				return e
			}
		case <-time.After(patience):
			t.Fatalf("never %v: %+v", kind, w.monitor.Status())
		}
	}
}
