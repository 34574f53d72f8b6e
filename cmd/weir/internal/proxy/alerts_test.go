package proxy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	selectors = regexp.MustCompile(`\b(weir_\w+)(?:\{(\w+)=~?"([^"]*)"\})?`)
	exprs     = regexp.MustCompile(`(?ms)^ {8}expr: (.*?)^ {8}\w`)
)

// TestAlertsNameWhatIsServed: /metrics has each series in deploy/alerts.yaml, with the label
// values that it selects.
func TestAlertsNameWhatIsServed(t *testing.T) {
	rules, err := os.ReadFile("../../../../deploy/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	a, _ := named(t, "a")
	lines := strings.Split(start(t, file(a, "")).metrics(), "\n")
	seen := 0
	for _, expr := range exprs.FindAllStringSubmatch(string(rules), -1) {
		for _, m := range selectors.FindAllStringSubmatch(expr[1], -1) {
			name, label, values := m[1], m[2], strings.Split(m[3], "|")
			seen++
			for _, value := range values {
				if !slices.ContainsFunc(lines, func(line string) bool {
					return strings.HasPrefix(line, name+"{") && strings.Contains(line, label+`="`+value) || label == "" && strings.HasPrefix(line, name+" ")
				}) {
					t.Errorf("/metrics has no %s", strings.TrimSuffix(m[0], "\n"))
				}
			}
		}
	}
	if seen < 20 {
		t.Errorf("%d series in the alerts", seen)
	}
}
