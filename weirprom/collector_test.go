package weirprom_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/histogram"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

var update = flag.Bool("update", false, "write the golden files")

// gathered registers the sources in a registry that checks everything, and returns a scrape in a
// format.
func gathered(t testing.TB, s metrics.Sources, format expfmt.Format) string {
	t.Helper()
	reg := prometheus.NewPedanticRegistry()
	must.Do(t, reg.Register(weirprom.New(s)))
	families := must.Have(reg.Gather())(t)
	var text bytes.Buffer
	encoder := expfmt.NewEncoder(&text, format)
	for _, family := range families {
		must.Do(t, encoder.Encode(family))
	}
	if c, ok := encoder.(expfmt.Closer); ok {
		_ = c.Close()
	}
	return text.String()
}

// The golden files are scrapes in the text format, and in OpenMetrics, which has exemplars.
func TestGolden(t *testing.T) {
	for name, format := range map[string]expfmt.Format{
		"text":        expfmt.NewFormat(expfmt.TypeTextPlain),
		"openmetrics": expfmt.NewFormat(expfmt.TypeOpenMetrics),
	} {
		t.Run(name, func(t *testing.T) {
			withEverything(t, func(t *testing.T, s metrics.Sources) {
				must.Golden(t, "testdata/"+name+".golden", gathered(t, s, format), *update)
			})
		})
	}
}

func TestGoldenIsParsed(t *testing.T) {
	text := must.Have(os.ReadFile("testdata/text.golden"))(t)
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := must.Have(parser.TextToMetricFamilies(bytes.NewReader(text)))(t)
	refused := families["weir_refused_total"].GetMetric()
	if want := 4 * len(weir.Reasons()); len(refused) != want { // a limiter, a set, two sides of a throttle
		t.Errorf("%d series of refusals: want %d, one of each reason", len(refused), want)
	}
	for _, i := range metrics.Table() {
		if families[i.Prometheus] == nil {
			t.Errorf("%s is in the table and not in the scrape", i.Prometheus)
		}
	}
}

func TestLint(t *testing.T) {
	withEverything(t, func(t *testing.T, s metrics.Sources) {
		problems, err := testutil.CollectAndLint(weirprom.New(s))
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	})
}

func TestNamesAreTakenOnce(t *testing.T) {
	search := func() *weir.Limiter { return weir.Must(weir.New(weir.Config{Name: "search"})) }
	one := weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{search()}})
	for name, c := range map[string]struct {
		more *weirprom.Collector
		want string
	}{
		"a collector twice": {one, "duplicate metrics collector registration attempted"},
		"two limiters":      {weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{search()}}), "duplicate metrics collector registration attempted"},
		"another one too": {
			weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{search(), weir.Must(weir.New(weir.Config{}))}}),
			`constLabels: {limiter="search"}`,
		},
		"nil": {weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{nil}}), "Limiters[0] is nil: want a limiter that weir.New returned"},
	} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			reg.MustRegister(one)
			if err := reg.Register(c.more); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v: want one with %q", err, c.want)
			}
			if _, err := reg.Gather(); err != nil {
				t.Errorf("what was registered first fails: %v", err)
			}
		})
	}
	invalid := weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{nil}})
	if err := prometheus.NewRegistry().Register(invalid); !errors.Is(err, metrics.ErrConfig) {
		t.Errorf("error %v: want one that matches ErrConfig", err)
	}
}

func TestHostileLabels(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	long := strings.Repeat("ä", bulkhead.MaxKeyLength/2)
	for _, key := range []string{"\xff\xfe", "\xff\xfd", long, long[:len(long)-2] + "ö", "\"} 1\nweir_limit{limiter=\"x\"", "\x00", "key\\"} {
		_ = set.Do(t.Context(), key, func(context.Context) error { return nil })
	}
	lim := weir.Must(weir.New(weir.Config{Name: strings.Repeat("\xff", 1<<20), Histograms: true, Exemplar: func(context.Context) string {
		return strings.Repeat("\xff\"\n", 1<<10)
	}}))
	_ = lim.Do(t.Context(), func(context.Context) error { return nil })
	s := metrics.Sources{Limiters: []*weir.Limiter{lim}, Sets: map[string]*bulkhead.Set{"\xff": set}}
	text := gathered(t, s, expfmt.NewFormat(expfmt.TypeTextPlain))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families := must.Have(parser.TextToMetricFamilies(strings.NewReader(text)))(t)
	if n := len(families["weir_key_limit"].GetMetric()); n != 7 {
		t.Errorf("%d keys have series: want 7", n)
	}
	for _, m := range families["weir_limit"].GetMetric() {
		if n := len(m.GetLabel()[0].GetValue()); n > metrics.MaxLabel {
			t.Errorf("a label of %d bytes", n)
		}
	}
	for _, format := range []expfmt.FormatType{expfmt.TypeOpenMetrics, expfmt.TypeProtoDelim} {
		gathered(t, s, expfmt.NewFormat(format))
	}
}

// Keys come and go, limiters work and are updated, and two registries scrape.
func TestScrapesWhileKeysComeAndGo(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{Max: 50, MaxKeys: 20, Default: bulkhead.Compartment{Config: weir.Config{Histograms: true}}}))(t)
	s := metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: 10}
	work, stop := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; work.Err() == nil; i++ {
			_ = set.Do(work, strings.Repeat("k", 1+i%60), func(context.Context) error { return nil })
		}
	}()
	collector := weirprom.New(s)
	regs := []*prometheus.Registry{prometheus.NewPedanticRegistry(), prometheus.NewPedanticRegistry()}
	scraped := make(chan error)
	for _, reg := range regs {
		reg.MustRegister(collector)
		go func() {
			var failed error
			for range 30 {
				n, err := testutil.GatherAndCount(reg, "weir_key_limit")
				if err == nil && n > 10+1 { // the overflow has a name
					err = errors.New("too many keys")
				}
				failed = errors.Join(failed, err)
			}
			scraped <- failed
		}()
	}
	for range regs {
		if err := <-scraped; err != nil {
			t.Error(err)
		}
	}
	stop()
	<-ended
}

func TestHistogramsAreClassicAndNative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lim := weir.Must(weir.New(weir.Config{Name: "search", Histograms: true}))
		latencies := []time.Duration{
			0, time.Microsecond, time.Millisecond, time.Second / 8, time.Second / 8, time.Second/8 + 1, time.Second, 2 * time.Minute, time.Hour,
		}
		var sum float64
		for _, d := range latencies {
			_ = lim.Do(t.Context(), func(context.Context) error { time.Sleep(d); return nil })
			sum += d.Seconds()
		}
		reg := prometheus.NewPedanticRegistry()
		reg.MustRegister(weirprom.New(metrics.Sources{Limiters: []*weir.Limiter{lim}}))
		families := must.Have(reg.Gather())(t)
		i := slices.IndexFunc(families, func(f *family) bool { return f.GetName() == "weir_latency_seconds" })
		h := families[i].GetMetric()[0].GetHistogram()
		for _, b := range h.GetBucket() {
			var want uint64
			for _, d := range latencies {
				if d.Seconds() <= b.GetUpperBound() {
					want++
				}
			}
			if b.GetCumulativeCount() != want {
				t.Errorf("%d at or below %v s: want %d", b.GetCumulativeCount(), b.GetUpperBound(), want)
			}
		}
		if off := h.GetSampleSum() - sum; off > 1e-6 || off < -1e-6 || h.GetSampleCount() != uint64(len(latencies)) {
			t.Errorf("%v s in %d: want %v s in %d", h.GetSampleSum(), h.GetSampleCount(), sum, len(latencies))
		}
		if got, want := nativeCounts(h), lim.Snapshot().Latencies.Buckets; !slices.Equal(got, want) {
			t.Errorf("native buckets %v: want %v", got, want)
		}
	})
}

type family = dto.MetricFamily

// nativeCounts unpacks the buckets of a native histogram that are not empty.
func nativeCounts(h *dto.Histogram) (buckets []histogram.Bucket) {
	index, count, next := 0, int64(0), 0
	for _, span := range h.GetPositiveSpan() {
		index += int(span.GetOffset())
		for range span.GetLength() {
			count += h.GetPositiveDelta()[next]
			buckets = append(buckets, histogram.Bucket{Index: index, Count: uint64(count)})
			index, next = index+1, next+1
		}
	}
	return buckets
}
