package metrics_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/fleet"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/memory"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/pool"
	"github.com/weir-go/weir/throttle"
)

// docs/metrics.md has each instrument in a line: | `weir_limit` | `weir.limiter.limit` | gauge |
// ...
// The document leaves out the series of keys that limiters have too.
func TestDocumentHasTheTable(t *testing.T) {
	text := must.Have(os.ReadFile("../docs/metrics.md"))(t)
	all := map[string]*metrics.Instrument{}
	for _, i := range metrics.Table() {
		all[i.Prometheus] = i
	}
	lines, missing := 0, []string{}
	for name, i := range all {
		rest, ofKey := strings.CutPrefix(name, "weir_key_")
		if of, repeats := all["weir_"+rest]; ofKey && repeats {
			if i.Help != of.Help || i.Kind != of.Kind || i.Unit != of.Unit || i.Name != strings.Replace(of.Name, ".limiter.", ".key.", 1) {
				t.Errorf("%+v is not what a limiter has: %+v", i, of)
			}
			continue
		}
		lines++
		if line := lineOf(i); !strings.Contains(string(text), line) {
			missing = append(missing, line)
		}
	}
	if len(missing) > 0 {
		t.Errorf("docs/metrics.md lacks\n%s", strings.Join(missing, "\n"))
	}
	ofProxy := strings.Count(string(text), "\n| `weir_proxy_") // has a test of its own
	if got := strings.Count(string(text), "\n| `weir_") - ofProxy; got != lines {
		t.Errorf("docs/metrics.md has %d instruments: want %d", got, lines)
	}
}

func lineOf(i *metrics.Instrument) string {
	var labels []string
	for _, l := range i.Labels {
		labels = append(labels, l.Prometheus)
	}
	name := "`" + i.Name + "`"
	for _, a := range i.Fixed {
		name = fmt.Sprintf("`%s{%s=%q}`", i.Name, a.Name, a.Value)
	}
	return fmt.Sprintf("| `%s` | %s | %v | `%s` | %s | %s |", i.Prometheus, name, i.Kind, i.Unit, strings.Join(labels, ", "), i.Help)
}

func TestTableIsConsistent(t *testing.T) {
	units, kinds := map[string]string{}, map[string]metrics.InstrumentKind{}
	names := map[string]bool{}
	for _, i := range metrics.Table() {
		if names[i.Prometheus] {
			t.Errorf("%s is there twice", i.Prometheus)
		}
		names[i.Prometheus] = true
		if unit, ok := units[i.Name]; ok && (unit != i.Unit || kinds[i.Name] != i.Kind || i.Fixed == nil) {
			t.Errorf("%s: two lines share the name and differ in unit or kind, or nothing tells them apart", i.Name)
		}
		units[i.Name], kinds[i.Name] = i.Unit, i.Kind
		if strings.HasSuffix(i.Prometheus, "_total") != (i.Kind == metrics.Counter) || i.Help == "" || !strings.HasSuffix(i.Help, ".") {
			t.Errorf("%s: a %v with the help %q", i.Prometheus, i.Kind, i.Help)
		}
	}
}

func TestErrorsSayWhatToDo(t *testing.T) {
	named := func(name string) *weir.Limiter { return weir.Must(weir.New(weir.Config{Name: name})) }
	th := must.Have(throttle.New(throttle.Config{Name: "db"}))(t)
	set := must.Have(bulkhead.New(bulkhead.Config{}))(t)
	_, err := metrics.New(metrics.Sources{
		Limiters:   []*weir.Limiter{nil, named("search"), named("search"), named("db Reads")},
		Sets:       map[string]*bulkhead.Set{"": set, "nothing": nil, "search": set},
		Throttles:  []*throttle.Throttle{nil, th, th},
		Pools:      map[string]*pool.Pool{"jobs": nil},
		Capacities: map[string]*capacity.Capacity{"slots": nil},
		Monitors:   map[string]*load.Monitor{"store": nil},
		Governors:  map[string]*memory.Governor{"import": nil},
	})
	if !errors.Is(err, metrics.ErrConfig) {
		t.Fatalf("error %v: want one that matches ErrConfig", err)
	}
	for _, want := range []string{
		"Limiters[0] is nil: want a limiter that weir.New returned",
		`limiter "search" and limiter "search" have the same name: give each a weir.Config.Name of its own`,
		`set "search" and limiter "search" have the same name: limiters and sets share the label "limiter": rename one`,
		"Sets has a source without a name: want one, which becomes a label",
		`Sets["nothing"] is nil: want one that its package's New returned`,
		"Throttles[0] is nil", `throttle "db" and throttle "db" have the same name`,
		`side of a throttle "db Reads" and limiter "db Reads" have the same name`,
		`Pools["jobs"] is nil`, `Capacities["slots"] is nil`, `Monitors["store"] is nil`, `Governors["import"] is nil`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
	if r, err := metrics.New(metrics.Sources{}); err != nil {
		t.Error(err)
	} else {
		r.Read(func(p metrics.Measurement) { t.Errorf("%v from no sources", p) })
	}
}

// points reads all points of an instrument, by their labels but the first.
func points(r *metrics.Reader, prometheus string) map[string]float64 {
	all := map[string]float64{}
	r.Read(func(p metrics.Measurement) {
		if p.Instrument.Prometheus == prometheus {
			all[strings.Join(p.Values[1:], " ")] = p.Value
		}
	})
	return all
}

func TestKeysAreBounded(t *testing.T) { synctest.Test(t, testKeysAreBounded) }

func testKeysAreBounded(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{MaxKeys: 6, ByKey: map[string]bulkhead.Compartment{"named": {}}}))(t)
	use := func(key string, times int) {
		for range times {
			_ = set.Do(t.Context(), key, func(context.Context) error { return nil })
		}
	}
	r := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}, MaxKeys: 2}))(t)
	want := func(keys ...string) {
		t.Helper()
		var got []string
		for key := range points(r, "weir_key_admitted_total") {
			got = append(got, key)
		}
		slices.Sort(got)
		keys = append(keys, "named")
		slices.Sort(keys)
		if !slices.Equal(got, keys) {
			t.Errorf("series for %q: want %q", got, keys)
		}
	}
	want()
	use("a", 1)
	use("b", 3)
	use("c", 2)
	want("b", "c") // the busiest
	use("a", 10)
	want("b", "c") // keep their series
	if all := points(r, "weir_admitted_total")[""]; all != 16 {
		t.Errorf("%v admitted in all keys: want 16", all)
	}
	for i := range 40 { // until b and c give way
		use(fmt.Sprint("newcomer", i%7), 1)
		use("a", 1)
	}
	snap := set.Snapshot()
	if _, b := snap.ByKey["b"]; b {
		t.Fatal("b was not evicted: the test is broken")
	}
	if got := points(r, "weir_key_admitted_total"); len(got) != 1 {
		t.Errorf("series for %v: want none in the places of b and c within an hour", got)
	}
	time.Sleep(time.Hour)
	use("a", 1)
	got := points(r, "weir_key_admitted_total")
	if _, ok := got["a"]; !ok || len(got) != 1+2 {
		t.Errorf("series for %v: want the busiest in the places of those that are gone", got)
	}
}

// Two keys that peak one after the other would add up to more than the cap.
func TestSetsHaveNoPeakOfTheirOwn(t *testing.T) {
	set := must.Have(bulkhead.New(bulkhead.Config{Max: 2, Default: bulkhead.Compartment{Config: weir.Config{Histograms: true}}}))(t)
	for _, key := range []string{"a", "b"} {
		var permits [2]weir.Permit
		for i := range permits {
			permits[i] = must.Have(set.Acquire(t.Context(), key))(t)
		}
		for i := range permits {
			permits[i].Done(nil)
		}
	}
	r := must.Have(metrics.New(metrics.Sources{Sets: map[string]*bulkhead.Set{"routes": set}}))(t)
	if peak, ok := points(r, "weir_in_flight_peak")[""]; ok {
		t.Errorf("a peak of %v with a cap of 2: want none", peak)
	}
	if peaks := points(r, "weir_key_in_flight_peak"); peaks["a"] != 2 || peaks["b"] != 2 {
		t.Errorf("peaks %v of the keys: want 2 each", peaks)
	}
}

func TestLabelsAreShortAndDiffer(t *testing.T) {
	long := strings.Repeat("é", 1000)
	names := []string{
		"search", "", "é", long, long + "x", strings.Repeat("x", metrics.MaxLabel), strings.Repeat("x", metrics.MaxLabel+1),
		"\xff", "\xfe", "a\xffb", "a\xfeb", strings.Repeat("\xff", 1<<20), "\x00\n\"\\",
	}
	seen := map[string]bool{}
	for _, name := range names {
		lim := weir.Must(weir.New(weir.Config{Name: name}))
		r := must.Have(metrics.New(metrics.Sources{Limiters: []*weir.Limiter{lim}}))(t)
		r.Read(func(p metrics.Measurement) {
			value := p.Values[0]
			if p.Instrument.Prometheus != "weir_limit" {
				return
			}
			if len(value) > metrics.MaxLabel || !utf8.ValidString(value) || seen[value] {
				t.Errorf("%.20q has the label %q: want a short, valid one of its own", name, value)
			}
			if valid := len(name) <= metrics.MaxLabel && utf8.ValidString(name); valid && name != "" && value != name {
				t.Errorf("%q has the label %q", name, value)
			}
			seen[value] = true
		})
	}
}

func TestTargets(t *testing.T) {
	for _, c := range []struct {
		law  law.Law
		want float64
	}{
		{law.Band{Target: 1e8}, 0.1},
		{law.PID{Target: 2e8}, 0.2},
		{law.Setpoint{Budget: 3e8}, 0.3},
		{fleet.Learn(law.Setpoint{Budget: 4e8}), 0.4},
		{law.Setpoint{}, 0},
		{law.Fixed{}, 0},
	} {
		lim := weir.Must(weir.New(weir.Config{Law: c.law}))
		r := must.Have(metrics.New(metrics.Sources{Limiters: []*weir.Limiter{lim}}))(t)
		got := points(r, "weir_target_seconds")
		if value, ok := got[""]; value != c.want || ok != (c.want > 0) {
			t.Errorf("%T: %v: want %v", c.law, got, c.want)
		}
	}
}

// The budget of a governor before it runs, and the bytes in flight and kept.
func TestGovernor(t *testing.T) {
	gov := must.Have(memory.New(memory.Config{Target: 64 << 20}))(t)
	defer gov.Close()
	hold := must.Have(gov.Acquire(t.Context(), 1000))(t)
	defer hold.Release()
	kept := must.Have(gov.TryAcquireKept(2000))(t)
	defer kept.Release()
	r := must.Have(metrics.New(metrics.Sources{Governors: map[string]*memory.Governor{"import": gov}}))(t)
	got := map[string]float64{}
	r.Read(func(m metrics.Measurement) {
		if !slices.Equal(m.Values, []string{"import"}) {
			t.Errorf("%s has the labels %q", m.Instrument.Prometheus, m.Values)
		}
		got[m.Instrument.Prometheus] = m.Value
	})
	for name, want := range map[string]float64{
		"weir_governor_target_bytes":    64 << 20,
		"weir_governor_budget_bytes":    1 << 20,
		"weir_governor_in_flight_bytes": 1000,
		"weir_governor_kept_bytes":      2000,
		"weir_governor_waiting":         0,
		"weir_governor_too_small":       0,
	} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %v, want %v", name, value, want)
		}
	}
	declared := 0
	r.Series(func(i *metrics.Instrument, source string) {
		if _, ok := got[i.Prometheus]; !ok || source != "import" {
			t.Errorf("%s of %q is declared and not read", i.Prometheus, source)
		}
		declared++
	})
	if declared != len(got) {
		t.Errorf("%d declared, %d read", declared, len(got))
	}
}

// A source on a system that has nothing to measure hides no other.
func TestMissingSourcesHaveNoSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		missing := poll(func() (load.Sample, error) { return load.Sample{}, load.ErrUnavailable })
		polls := points(polled(t, missing, &load.Memory{}), "weir_monitor_polls_total")
		if _, ok := polls["memory"]; !ok || len(polls) != 1 {
			t.Errorf("series %v: want one of the memory", polls)
		}
	})
}
