package dbtest

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// A watched source is polled by a monitor.
type watched struct{ *load.Monitor }

// watch polls a source for the duration of the test.
func watch(t *testing.T, source load.Source) watched {
	t.Helper()
	monitor, err := load.New(load.Config{
		Feeds:    []load.Feed{{Source: source}},
		Interval: 100 * time.Millisecond, Timeout: 2 * time.Second, MaxAge: 3 * time.Second,
		OnEvent: func(e load.Event) { t.Log(e) },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- monitor.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return watched{monitor}
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
