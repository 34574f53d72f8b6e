package proxy

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/fleet/storetest"
	"github.com/weir-go/weir/internal/must"
)

var (
	selectors = regexp.MustCompile(`\b(weir_\w+)(?:\{(\w+)=~?"([^"]*)"\})?`)
	exprs     = regexp.MustCompile(`(?ms)^ {8}expr: (.*?)^ {8}\w`)
)

// TestAlertsNameWhatIsServed: /metrics has each series in deploy/alerts.yaml, with the label
// values that it selects.
func TestAlertsNameWhatIsServed(t *testing.T) {
	rules := must.Have(os.ReadFile("../../../../deploy/alerts.yaml"))(t)
	a, _ := named(t, "a")
	lines := strings.Split(startIn(t, addresses+file(a, quickFleet), storetest.NewMemory()).metrics(), "\n")
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
