package loadtest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weir-go/weir/load"
)

// Poll returns the sample of a source, which must answer.
func Poll(t testing.TB, s load.Source) load.Sample {
	t.Helper()
	sample, err := s.Poll(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return sample
}

// Reading returns the reading of that name, which must be there.
func Reading(t testing.TB, s load.Sample, name string) load.Reading {
	t.Helper()
	for _, r := range s.Readings {
		if r.Name == name {
			return r
		}
	}
	t.Fatalf("no reading %q in %v", name, s.Readings)
	return load.Reading{}
}

// Watch polls a source until the test ends, with the settings given.
func Watch(t testing.TB, s load.Source, c load.Config) *load.Monitor {
	t.Helper()
	c.Sources = []load.Source{s}
	mon, err := load.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ran := make(chan error)
	go func() { ran <- mon.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ran; err != nil {
			t.Error(err)
		}
	})
	return mon
}

// Closed closes a store while it is watched: its source is neither a panic nor a healthy store, but
// goes stale because of the error that says so.
func Closed(t *testing.T, s load.Source, closeStore func() error, because error) {
	t.Helper()
	events := make(chan load.Event, 1000)
	mon := Watch(t, s, load.Config{
		Interval: time.Millisecond, MaxAge: 20 * time.Millisecond,
		OnEvent: func(e load.Event) { events <- e },
	})
	for !mon.Level(load.Writes).Valid {
		<-time.After(time.Millisecond)
	}
	if err := closeStore(); err != nil {
		t.Fatal(err)
	}
	for e := range events { // on a busy machine readings may go stale before
		if e.Kind == load.WentStale && errors.Is(e.Err, because) {
			break
		}
	}
	if l := mon.Level(load.Writes); l.Valid || !l.Degraded {
		t.Errorf("got %+v, want nothing valid", l)
	}
}
