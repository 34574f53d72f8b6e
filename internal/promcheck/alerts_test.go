package promcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

const (
	interval = 15 * time.Second
	phase    = 30 * time.Minute
)

// A recording is a shop that is well for one phase, then in trouble for two. In the second of
// these its store does not answer. Work that hangs has its own limiter: it would prevent
// measurements of the limit.
type recording struct {
	*database
	start, sick, gone, end time.Time
}

func record(t *testing.T, native bool) recording {
	return recorded(t, func(ctx context.Context, t *testing.T, r *recording) {
		s := open(ctx, t)
		reg := s.registry()
		scrape := func() time.Time { return r.scrapePhase(t, reg, native, func() {}) }
		r.sick = scrape()
		s.sick.Store(true)
		r.gone = scrape()
		s.gone.Store(true)
		hung, _ := s.sources.Limiters[1].Acquire(ctx) // in shadow mode, so there is always room
		r.end = scrape()
		hung.Done(nil)
	})
}

// recorded runs a system in a bubble of time until it is recorded.
func recorded(t *testing.T, run func(context.Context, *testing.T, *recording)) recording {
	r := recording{database: newDatabase()}
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		r.start = time.Now()
		run(ctx, t, &r)
		stop()
		synctest.Wait()
	})
	return r
}

// scrapePhase scrapes the metrics for a phase, after another interval each, and returns its end.
func (r recording) scrapePhase(t *testing.T, reg *prometheus.Registry, native bool, another func()) (end time.Time) {
	for range phase / interval {
		time.Sleep(interval)
		another()
		r.scrape(t, reg, native)
	}
	return time.Now()
}

// fires reports whether the alert fires within a span: its expression holds for the required
// time.
func (r recording) fires(t *testing.T, rule rulefmt.Rule, from, to time.Time) bool {
	t.Helper()
	since := map[string]time.Time{}
	for at := from; !at.After(to); at = at.Add(interval) {
		now := map[string]time.Time{}
		for _, s := range r.query(t, rule.Expr, at) {
			key := s.Metric.String()
			now[key] = at
			if before, ok := since[key]; ok {
				now[key] = before
			}
			if at.Sub(now[key]) >= time.Duration(rule.For) {
				return true
			}
		}
		since = now
	}
	return false
}

// Each alert is silent while all is well and fires in trouble, and each panel shows data,
// whether the server scrapes native histograms or classic ones.
func TestAlertsAndPanels(t *testing.T) {
	for _, native := range []bool{true, false} {
		r := record(t, native)
		for _, rule := range rules(t, weirprom.Alerts) {
			t.Run(fmt.Sprintf("native=%v/%s", native, rule.Alert), func(t *testing.T) { r.tryAlert(t, rule) })
		}
		for title, exprs := range panels(t) {
			if !native && title == "Latency" { // a heat map of native histograms
				continue
			}
			t.Run(fmt.Sprintf("native=%v/%s", native, title), func(t *testing.T) { r.tryPanel(t, exprs) })
		}
	}
}

func (r recording) tryAlert(t *testing.T, rule rulefmt.Rule) {
	const settled = 10 * time.Minute // the law has found the limit
	if r.fires(t, rule, r.start.Add(settled), r.sick) {
		t.Error("fires while all is well")
	}
	later := rule.Alert == "WeirMonitorStale" || rule.Alert == "WeirWorkStuck" // these fire in the last phase
	if got := r.fires(t, rule, r.sick.Add(interval), r.gone); got == later {
		t.Errorf("fires in trouble: %v: want %v", got, !later)
	}
	if later && !r.fires(t, rule, r.gone.Add(interval), r.end) {
		t.Error("does not fire when work hangs and the store does not answer")
	}
}

func (r recording) tryPanel(t *testing.T, exprs []string) {
	for _, expr := range exprs {
		shown := 0
		for at := r.start.Add(phase / 2); at.Before(r.end); at = at.Add(phase / 4) {
			shown += len(r.query(t, expr, at))
		}
		if shown == 0 {
			t.Errorf("shows nothing of %s", expr)
		}
	}
}

var promQL = parser.NewParser(parser.Options{})

func rules(t *testing.T, text string) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(text), false, model.UTF8Validation, promQL, slog.Default())
	must.Do(t, errors.Join(errs...))
	return groups.Groups[0].Rules
}

// panels returns the expressions of the dashboard by panel, with the variables replaced as by
// Grafana.
func panels(t *testing.T) map[string][]string {
	t.Helper()
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	must.Do(t, json.Unmarshal([]byte(weirprom.Dashboard), &dashboard))
	variables := strings.NewReplacer("$__rate_interval", "1m", "$limiter", ".*", "$job", ".*")
	all := map[string][]string{}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			all[panel.Title] = append(all[panel.Title], variables.Replace(target.Expr))
		}
	}
	return all
}

// TestExpressionsNameWhatIsExported finds names also in a part of an expression that no recording
// needs.
func TestExpressionsNameWhatIsExported(t *testing.T) {
	known := map[string]bool{}
	for _, i := range metrics.Table() {
		known[i.Prometheus], known[i.Prometheus+"_bucket"] = true, i.Kind == metrics.Distribution
	}
	for _, name := range regexp.MustCompile(`\bweir_\w+`).FindAllString(weirprom.Alerts+weirprom.Dashboard, -1) {
		if !known[name] {
			t.Errorf("there is no metric %s", name)
		}
	}
}
