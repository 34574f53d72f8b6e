package weirotel_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
	"github.com/weir-go/weir/weirotel"
)

const traceID = "4bf92f3577b34da6a3ce929d0e0e4736"

func collected(t testing.TB, s metrics.Sources) map[string]metricdata.Metrics {
	t.Helper()
	producer := must.Have(weirotel.New(s))(t)
	reader := sdkmetric.NewManualReader(sdkmetric.WithProducer(producer))
	sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))
	var all metricdata.ResourceMetrics
	must.Do(t, reader.Collect(t.Context(), &all))
	byName := map[string]metricdata.Metrics{}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			byName[m.Name] = m
		}
	}
	return byName
}

// points returns the data points of a metric, each as its attributes and value.
func points(m metricdata.Metrics) (all []string) {
	add := func(set attribute.Set, value any) {
		all = append(all, fmt.Sprintf("%s %v", set.Encoded(attribute.DefaultEncoder()), value))
	}
	switch data := m.Data.(type) {
	case metricdata.Gauge[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.Sum[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Value)
		}
	case metricdata.ExponentialHistogram[float64]:
		for _, p := range data.DataPoints {
			add(p.Attributes, p.Count)
		}
	}
	slices.Sort(all)
	return all
}

func everything(t testing.TB) metrics.Sources {
	set := must.Have(bulkhead.New(bulkhead.Config{Max: 10, Default: bulkhead.Compartment{Config: weir.Config{Histograms: true}}}))(t)
	_ = set.Do(t.Context(), "GET /search", func(context.Context) error { return nil })
	mon := must.Have(load.New(load.Config{Sources: []load.Source{&load.Memory{}}}))(t)
	th := must.Have(throttle.New(throttle.Config{Name: "db", Monitor: mon}))(t)
	slots := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
	jobs := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice(nil)}))(t)
	gov := must.Have(memory.New(memory.Config{Target: 64 << 20}))(t)
	t.Cleanup(gov.Close)
	return metrics.Sources{
		Limiters:   []*weir.Limiter{weir.Must(weir.New(weir.Config{Name: "search", Histograms: true}))},
		Sets:       map[string]*bulkhead.Set{"routes": set},
		Throttles:  []*throttle.Throttle{th},
		Pools:      map[string]*pool.Pool{"jobs": jobs},
		Capacities: map[string]*capacity.Capacity{"slots": slots},
		Monitors:   map[string]*load.Monitor{"store": mon},
		Governors:  map[string]*memory.Governor{"import": gov},
	}
}

// Each measurement of the reader is a data point, with attributes of its own.
func TestEveryMeasurementIsProduced(t *testing.T) {
	s := everything(t)
	reader := must.Have(metrics.New(s))(t)
	want, kinds := map[string]int{}, map[string]metrics.InstrumentKind{}
	reader.Read(func(m metrics.Measurement) {
		want[m.Instrument.Name]++
		kinds[m.Instrument.Name] = m.Instrument.Kind
	})
	got := collected(t, s)
	if names := slices.Sorted(maps.Keys(got)); !slices.Equal(names, slices.Sorted(maps.Keys(want))) {
		t.Errorf("produced %q: want %q", names, slices.Sorted(maps.Keys(want)))
	}
	for name, m := range got {
		p := points(m)
		if len(p) != want[name] || len(slices.Compact(slices.Clone(p))) != len(p) || m.Unit == "" || m.Description == "" {
			t.Errorf("%s, a %v: %q: want %d points that differ, a unit and a description", name, kinds[name], p, want[name])
		}
	}
}

func TestRequestsByResult(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Name: "search"}))
	_ = lim.Do(t.Context(), func(context.Context) error { return nil })
	lim.Close()
	_, _ = lim.TryAcquire(t.Context())
	requests := points(collected(t, metrics.Sources{Limiters: []*weir.Limiter{lim}})["weir.limiter.requests"])
	if n := len(weir.Reasons()) + 2; len(requests) != n {
		t.Errorf("%d points: want %d", len(requests), n)
	}
	for _, want := range []string{
		"weir.limiter.name=search,weir.result=admitted 1",
		"error.type=closed,weir.limiter.name=search,weir.result=refused 1",
		"error.type=queue timeout,weir.limiter.name=search,weir.result=refused 0",
		"weir.limiter.name=search,weir.result=cancelled 0",
	} {
		if !slices.Contains(requests, want) {
			t.Errorf("no %q in %q", want, requests)
		}
	}
}

func TestHistogramsAreExponential(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Name: "search", Histograms: true, Exemplar: func(context.Context) string { return traceID }}))
		latencies := []time.Duration{0, time.Microsecond, time.Second / 8, time.Second/8 + 1, time.Second, time.Hour}
		for _, d := range latencies {
			_ = lim.Do(t.Context(), func(context.Context) error { time.Sleep(d); return nil })
		}
		m := collected(t, metrics.Sources{Limiters: []*weir.Limiter{lim}})["weir.limiter.lease.duration"]
		p := m.Data.(metricdata.ExponentialHistogram[float64]).DataPoints[0]
		counts := map[int]uint64{}
		for i, n := range p.PositiveBucket.Counts {
			if n > 0 {
				counts[int(p.PositiveBucket.Offset)+i] = n
			}
		}
		want := map[int]uint64{}
		for _, d := range latencies {
			want[histogram.Index(d)-1]++ // (base^i, base^(i+1)], where ours is (base^(i-1), base^i]
		}
		if !maps.Equal(counts, want) || p.Scale != 3 || p.Count != uint64(len(latencies)) {
			t.Errorf("%v of scale %d: want %v", counts, p.Scale, want)
		}
		if id, _ := hex.DecodeString(traceID); len(p.Exemplars) == 0 || !bytes.Equal(p.Exemplars[0].TraceID, id) {
			t.Errorf("exemplars %v: want the trace", p.Exemplars)
		}
	})
}

func TestHostileNames(t *testing.T) {
	lim := weir.Must(weir.New(weir.Config{Name: "\xff", Histograms: true, Exemplar: func(context.Context) string { return "\xff" }}))
	_ = lim.Do(t.Context(), func(context.Context) error { return nil })
	for name, m := range collected(t, metrics.Sources{Limiters: []*weir.Limiter{lim}}) {
		for _, p := range points(m) {
			if !utf8.ValidString(p) {
				t.Errorf("%s: %q", name, p)
			}
		}
		if h, ok := m.Data.(metricdata.ExponentialHistogram[float64]); ok {
			for _, e := range h.DataPoints[0].Exemplars {
				if text := e.FilteredAttributes[0].Value.AsString(); !utf8.ValidString(text) {
					t.Errorf("the exemplar %q", text)
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := weirotel.New(metrics.Sources{Limiters: []*weir.Limiter{nil}}); !errors.Is(err, metrics.ErrConfig) || !strings.Contains(err.Error(), "Limiters[0] is nil") {
		t.Errorf("error %v: want one that names the limiter", err)
	}
	p := must.Have(weirotel.New(metrics.Sources{}))(t)
	if got, err := p.Produce(t.Context()); got != nil || err != nil {
		t.Errorf("%v, %v of no sources", got, err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := p.Produce(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want that of the context", err)
	}
}
