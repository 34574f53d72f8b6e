package promcheck

import (
	"bytes"
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/weir-go/weir/internal/must"
)

// A sample is a number or a native histogram.
type sample struct {
	at    int64 // in milliseconds
	value float64
	h     *histogram.Histogram
}

func (s sample) T() int64                { return s.at }
func (s sample) ST() int64               { return 0 }
func (s sample) F() float64              { return s.value }
func (s sample) H() *histogram.Histogram { return s.h }
func (s sample) Copy() chunks.Sample     { return s }

func (s sample) FH() *histogram.FloatHistogram {
	if s.h == nil {
		return nil
	}
	return s.h.ToFloat(nil)
}

func (s sample) Type() chunkenc.ValueType {
	if s.h != nil {
		return chunkenc.ValHistogram
	}
	return chunkenc.ValFloat
}

// A database holds the scraped series.
type database struct {
	series  map[string]*series
	symbols *labels.SymbolTable
}

type series struct {
	labels  labels.Labels
	samples []chunks.Sample
}

func newDatabase() *database {
	return &database{series: map[string]*series{}, symbols: labels.NewSymbolTable()}
}

// scrape gathers metrics, sends them in the protobuf format and parses them as Prometheus
// does. native selects native histograms instead of classic ones.
func (d *database) scrape(t testing.TB, g prometheus.Gatherer, native bool) {
	t.Helper()
	families := must.Have(g.Gather())(t)
	var wire bytes.Buffer
	encoder := expfmt.NewEncoder(&wire, expfmt.NewFormat(expfmt.TypeProtoDelim))
	for _, family := range families {
		must.Do(t, encoder.Encode(family))
	}
	p, now := textparse.NewProtobufParser(wire.Bytes(), !native, !native, false, false, d.symbols), time.Now().UnixMilli()
	for {
		entry, err := p.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		s := sample{at: now}
		switch entry {
		case textparse.EntrySeries:
			_, _, s.value = p.Series()
		case textparse.EntryHistogram:
			_, _, s.h, _ = p.Histogram()
			s.h = s.h.Copy()
			must.Do(t, s.h.Validate())
		default:
			continue
		}
		var l labels.Labels
		p.Labels(&l)
		d.add(l, s)
	}
}

func (d *database) add(l labels.Labels, s sample) {
	b := labels.NewBuilder(l)
	b.Set("job", "shop")
	b.Set("instance", "shop-1")
	l = b.Labels()
	at := d.series[l.String()]
	if at == nil {
		at = &series{labels: l}
		d.series[l.String()] = at
	}
	at.samples = append(at.samples, s)
}

// Querier implements storage.Queryable.
func (d *database) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, s := range d.series {
			if matches(s.labels, matchers) {
				found = append(found, storage.NewListSeries(s.labels, s.samples))
			}
		}
		return &seriesSet{left: found}
	}}, nil
}

type seriesSet struct {
	left []storage.Series
	now  storage.Series
}

func (s *seriesSet) Next() bool {
	if len(s.left) == 0 {
		return false
	}
	s.now, s.left = s.left[0], s.left[1:]
	return true
}

func (s *seriesSet) At() storage.Series                { return s.now }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return nil }

func matches(l labels.Labels, matchers []*labels.Matcher) bool {
	for _, m := range matchers {
		if !m.Matches(l.Get(m.Name)) {
			return false
		}
	}
	return true
}

var engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute, Parser: promQL})

// query evaluates an expression at one moment.
func (d *database) query(t testing.TB, expr string, at time.Time) promql.Vector {
	t.Helper()
	q := must.Have(engine.NewInstantQuery(context.Background(), d, nil, expr, at))(t)
	defer q.Close()
	result := q.Exec(context.Background())
	vector, err := result.Vector()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	for _, warning := range result.Warnings.AsErrors() {
		if !errors.Is(warning, annotations.PromQLInfo) {
			t.Errorf("%s: %v", expr, warning)
		}
	}
	return vector
}
