package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/metrics"
)

// Each outcome, and each direction of the limit, is counted under its name.
func TestCountsHaveTheirNames(t *testing.T) {
	settings := weir.Config{Name: "a", Min: 3, Max: 3, Law: law.Fixed{}}
	lim := weir.Must(weir.New(settings))
	want := map[string]float64{}
	for outcome := weir.Success; outcome <= weir.Late; outcome++ {
		for range int(outcome) + 1 {
			permit := must.Have(lim.Acquire(t.Context()))(t)
			permit.Finish(outcome)
			want[outcome.String()]++
		}
	}
	for _, limit := range []int{5, 4, 3} {
		settings.Min, settings.Max = limit, limit
		must.Do(t, lim.Update(settings))
	}
	r := must.Have(metrics.New(metrics.Sources{Limiters: []*weir.Limiter{lim}}))(t)
	if got := points(r, "weir_completed_total"); !maps.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
	if got := points(r, "weir_limit_changes_total"); got["up"] != 1 || got["down"] != 2 {
		t.Errorf("changes %v, want one up and two down", got)
	}
}

type poll func() (load.Sample, error)

func (poll) Name() string { return "store" }

func (p poll) Poll(context.Context) (load.Sample, error) { return p() }

// polled reads a monitor that has run for a second.
func polled(t *testing.T, sources ...load.Source) *metrics.Reader {
	t.Helper()
	monitor := must.Have(load.New(load.Config{Sources: sources}))(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	must.Do(t, monitor.Run(ctx))
	return must.Have(metrics.New(metrics.Sources{Monitors: map[string]*load.Monitor{"db": monitor}}))(t)
}

func TestMonitorsShowOnlyWhatTheyKnow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := polled(t, poll(func() (load.Sample, error) { return load.Sample{}, errors.New("down") }))
		for _, name := range []string{"weir_monitor_load", "weir_monitor_age_seconds"} {
			if got := points(down, name); len(got) > 0 {
				t.Errorf("%s is %v while nothing is known", name, got)
			}
		}
		many := polled(t, poll(func() (load.Sample, error) {
			readings := []load.Reading{{Name: "a", Value: 1, Limit: 10}, {Name: "a", Value: 2, Limit: 10}, {Name: "odd", Err: errors.New("odd")}}
			for i := range 40 {
				readings = append(readings, load.Reading{Name: fmt.Sprint(i), Value: 1, Limit: 10})
			}
			return load.Sample{Readings: readings}, nil
		}))
		if got := points(many, "weir_monitor_reading"); len(got) != 30 || got["store a"] != 1 {
			t.Errorf("%d readings, and %v of a: want the first one of a name that is valid, and 32 looked at", len(got), got["store a"])
		}
	})
}

func TestSetsWithoutACapHaveNoShares(t *testing.T) {
	for _, most := range []int{0, 8} {
		set := must.Have(bulkhead.New(bulkhead.Config{Max: most, ByKey: map[string]bulkhead.Compartment{"a": {}}}))(t)
		r := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}}))(t)
		for _, name := range []string{"weir_set_cap", "weir_key_entitled"} {
			if got := points(r, name); (len(got) > 0) != (most > 0) {
				t.Errorf("%s is %v with a cap of %d", name, got, most)
			}
		}
	}
}

func TestTargetsOfKeys(t *testing.T) {
	band := func(target time.Duration) weir.Config { return weir.Config{Law: law.Band{Target: target}} }
	set := must.Have(bulkhead.New(bulkhead.Config{
		Default: bulkhead.Compartment{Config: band(time.Second)},
		ByKey:   map[string]bulkhead.Compartment{"law": {Config: band(2 * time.Second)}, "budget": {Config: band(2 * time.Second), Budget: 3 * time.Second}},
	}))(t)
	must.Do(t, set.Do(t.Context(), "unknown", func(context.Context) error { return nil }))
	r := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}}))(t)
	if got := points(r, "weir_key_target_seconds"); !maps.Equal(got, map[string]float64{"unknown": 1, "law": 2, "budget": 3}) {
		t.Errorf("targets %v", got)
	}
}

// A client may name a key as the label of another one: two equal series would fail the scrape.
func TestKeysThatLookLikeLabels(t *testing.T) {
	long := strings.Repeat("x", 200)
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	r := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}}))(t)
	for _, key := range []string{long, label.Clean(long)} {
		must.Do(t, set.Do(t.Context(), key, func(context.Context) error { return nil }))
		n := 0
		r.Read(func(p metrics.Measurement) {
			if p.Instrument.Prometheus == "weir_key_limit" {
				n++
			}
		})
		if n != 1 {
			t.Errorf("%d series of %.5s, want one", n, key)
		}
	}
	named := func(name string) *weir.Limiter { return weir.Must(weir.New(weir.Config{Name: name})) }
	if _, err := metrics.New(metrics.Sources{Limiters: []*weir.Limiter{named(label.Clean(long)), named(long)}}); err == nil {
		t.Error("two limiters have the same label")
	}
}

// Keys keep their series while they are there, and a key of the configuration takes no place of
// others, nor does the overflow.
func TestPlacesOfKeys(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		named := map[string]bulkhead.Compartment{"named": {}}
		set := must.Have(bulkhead.New(bulkhead.Config{MaxKeys: 2, ByKey: named}))(t)
		one := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: 1}))(t)
		none := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: -1}))(t)
		for i, key := range []string{"a", "b", "c"} { // c finds no room
			for range i + 1 {
				permit := must.Have(set.Acquire(t.Context(), key))(t)
				defer permit.Done(nil)
			}
			points(one, "weir_key_limit")
		}
		time.Sleep(2 * time.Hour)
		want := map[string]float64{"a": 1, "named": 0, bulkhead.Overflow: 3}
		if got := points(one, "weir_key_in_flight"); !maps.Equal(got, want) {
			t.Errorf("series of %v, want %v", got, want)
		}
		delete(want, "a")
		if got := points(none, "weir_key_in_flight"); !maps.Equal(got, want) {
			t.Errorf("without places, series of %v, want %v", got, want)
		}
		must.Do(t, set.Update(bulkhead.Config{MaxKeys: 2}))
		if got := points(none, "weir_key_in_flight"); len(got) > 2 {
			t.Errorf("after an update, series of %v", got)
		}
	})
}
