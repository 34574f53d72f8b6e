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
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/weir-go/weir/internal/must"
)

type database struct {
	series  map[string]*promql.Series
	symbols *labels.SymbolTable
}

func newDatabase() *database {
	return &database{series: map[string]*promql.Series{}, symbols: labels.NewSymbolTable()}
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
		switch entry {
		case textparse.EntrySeries:
			_, _, value := p.Series()
			s := d.of(p)
			s.Floats = append(s.Floats, promql.FPoint{T: now, F: value})
		case textparse.EntryHistogram:
			_, _, h, _ := p.Histogram()
			must.Do(t, h.Validate())
			s := d.of(p)
			s.Histograms = append(s.Histograms, promql.HPoint{T: now, H: h.ToFloat(nil)})
		}
	}
}

// of returns the series of the entry that was parsed last, with the labels of an instance.
func (d *database) of(p textparse.Parser) *promql.Series {
	var l labels.Labels
	p.Labels(&l)
	b := labels.NewBuilder(l)
	b.Set("job", "shop")
	b.Set("instance", "shop-1")
	l = b.Labels()
	if d.series[l.String()] == nil {
		d.series[l.String()] = &promql.Series{Metric: l}
	}
	return d.series[l.String()]
}

// Querier implements storage.Queryable.
func (d *database) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		var found []storage.Series
		for _, s := range d.series {
			if labels.Selector(matchers).Matches(s.Metric) {
				found = append(found, promql.NewStorageSeries(*s))
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

var engine = promql.NewEngine(promql.EngineOpts{MaxSamples: 1e7, Timeout: time.Minute, Parser: promQL})

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
