package weir_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

func TestConfigHasTheDefaults(t *testing.T) {
	for _, c := range []struct{ given, want weir.Config }{
		{weir.Config{}, weir.Config{
			Name: "limiter", Min: 1, Max: 100_000, Initial: 4, Law: law.Setpoint{},
			Interval: time.Second, Window: 10 * time.Second, MinSamples: 20,
		}},
		{weir.Config{Max: 5, Interval: time.Minute, Queue: weir.Queue{Size: 3}}, weir.Config{
			Name: "limiter", Min: 1, Max: 5, Initial: 4, Law: law.Setpoint{},
			Interval: time.Minute, Window: time.Minute, MinSamples: 20,
			Queue: weir.Queue{Size: 3, Timeout: time.Second},
		}},
	} {
		if got := newLimiter(t, c.given).Config(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v\nwant %+v", got, c.want)
		}
	}
}

// everything has no setting at its default, and no function.
var everything = weir.Config{
	Name: "search", Min: 2, Max: 300, Initial: 40, Law: law.Band{Target: time.Second},
	Interval: 2 * time.Second, Window: 30 * time.Second, MinSamples: 7,
	Queue:   weir.Queue{Size: 9, Timeout: 3 * time.Second, Discipline: weir.Adaptive, Tenants: 1024},
	Timeout: 4 * time.Second, Breaker: new(allowedFor), Histograms: true, Shadow: true,
}

// Config returns the configuration that was given, whatever else changed, and Update accepts
// it.
func TestConfigIsWhatWasGiven(t *testing.T) {
	for name, l := range map[string]*weir.Limiter{
		"new": newLimiter(t, everything), "updated": newLimiter(t, weir.Config{}),
	} {
		if name == "updated" {
			update(t, l, everything)
		}
		if err := l.SetCap(3); err != nil {
			t.Fatal(err)
		}
		got := l.Config()
		if !reflect.DeepEqual(got, everything) {
			t.Errorf("%s: %+v\nwant %+v", name, got, everything)
		}
		update(t, l, got)
		if again := l.Config(); !reflect.DeepEqual(again, got) {
			t.Errorf("%s: %+v after an update with what was read: want %+v", name, again, got)
		}
		update(t, l, weir.Config{})
		if got := l.Config(); !reflect.DeepEqual(got, newLimiter(t, weir.Config{}).Config()) {
			t.Errorf("%s: %+v: want nothing of the last one", name, got)
		}
	}
}

// A new field of Config is missing above until it is named there.
func TestConfigIsReadWhole(t *testing.T) {
	functions := map[string]bool{"Classify": true, "OnEvent": true, "Exemplar": true}
	for _, part := range []reflect.Value{reflect.ValueOf(everything), reflect.ValueOf(everything.Queue)} {
		for i := range part.NumField() {
			if name := part.Type().Field(i).Name; part.Field(i).IsZero() != functions[name] {
				t.Errorf("%s: want a value that is not its default", name)
			}
		}
	}
	called := ""
	c := newLimiter(t, weir.Config{
		Classify:   func(error) weir.Outcome { called += "classify "; return weir.Ignore },
		OnEvent:    func(weir.Event) { called += "event " },
		Exemplar:   func(context.Context) string { called += "exemplar"; return "" },
		Histograms: true,
	}).Config()
	if c.Classify == nil || c.OnEvent == nil || c.Exemplar == nil {
		t.Fatal("a function is missing")
	}
	c.Classify(nil)
	c.OnEvent(weir.Event{})
	c.Exemplar(t.Context())
	if called != "classify event exemplar" {
		t.Errorf("called %q", called)
	}
}

func TestConfigThatWasRefusedIsNotAtWork(t *testing.T) {
	l := newLimiter(t, everything)
	if l.Update(weir.Config{Name: "other", Min: -1}) == nil || l.Update(weir.Config{
		Name: "other", Law: law.Fixed{Limit: -1},
	}) == nil {
		t.Fatal("want errors")
	}
	if got := l.Config(); !reflect.DeepEqual(got, everything) {
		t.Errorf("%+v\nwant %+v", got, everything)
	}
}

// Under alternating updates, Config never returns a mixture of two.
func TestConfigIsThatOfOneUpdate(t *testing.T) {
	l := newLimiter(t, weir.Config{Name: "even", Max: 200})
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_ = l.Update([]weir.Config{{Name: "odd", Max: 100}, {Name: "even", Max: 200}}[i%2])
		}
	}()
	for range 2000 {
		if c := l.Config(); (c.Name == "odd") != (c.Max == 100) {
			t.Errorf("%q with Max %d", c.Name, c.Max)
		}
	}
	close(stop)
	<-stopped
}
