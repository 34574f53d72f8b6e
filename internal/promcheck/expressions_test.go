package promcheck

import (
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/metrics"
	"github.com/weir-go/weir/weirprom"
)

var promQL = parser.NewParser(parser.Options{})

// rules returns the alert rules, as loaded by Prometheus.
func rules(t *testing.T) []rulefmt.Rule {
	t.Helper()
	groups, errs := rulefmt.Parse([]byte(weirprom.Alerts), false, model.UTF8Validation, promQL, slog.Default())
	for _, err := range errs {
		t.Error(err)
	}
	if t.Failed() {
		t.FailNow()
	}
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

// unknownMetrics lists the metrics of an expression that are missing in the table, and labels
// that they do not have.
func unknownMetrics(t *testing.T, expr string) (unknown []string) {
	t.Helper()
	parsed, err := promQL.ParseExpr(expr)
	if err != nil {
		t.Errorf("%s: %v", expr, err)
		return nil
	}
	labels := map[string][]string{}
	for _, i := range metrics.Table() {
		has := []string{"job", "instance", "__name__"}
		for _, l := range i.Labels {
			has = append(has, l.Prometheus)
		}
		labels[i.Prometheus] = has
		if i.Kind == metrics.Distribution {
			labels[i.Prometheus+"_bucket"] = append(has, "le")
		}
	}
	parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
		if selector, ok := node.(*parser.VectorSelector); ok {
			has, known := labels[selector.Name]
			if !known {
				unknown = append(unknown, selector.Name)
			}
			for _, m := range selector.LabelMatchers {
				if known && !slices.Contains(has, m.Name) {
					unknown = append(unknown, selector.Name+"{"+m.Name+"}")
				}
			}
		}
		return nil
	})
	return unknown
}

func TestExpressionsNameWhatIsExported(t *testing.T) {
	for title, exprs := range panels(t) {
		for _, expr := range exprs {
			if unknown := unknownMetrics(t, expr); len(unknown) > 0 {
				t.Errorf("panel %q: %s: no metrics %q", title, expr, unknown)
			}
		}
	}
	for _, rule := range rules(t) {
		if unknown := unknownMetrics(t, rule.Expr); len(unknown) > 0 {
			t.Errorf("alert %s: no metrics %q", rule.Alert, unknown)
		}
	}
	if unknown := unknownMetrics(t, `weir_gone{key="a"} + weir_limit{reason="a"}`); len(unknown) != 2 {
		t.Errorf("found %q: want both", unknown)
	}
}
