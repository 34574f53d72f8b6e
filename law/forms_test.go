package law_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// TestFormsAreWhatParseReads: each setting is known, its default may be given, and neither changes
// the law.
func TestFormsAreWhatParseReads(t *testing.T) {
	for _, f := range law.Forms() {
		plain := must.Have(law.Parse(f.Name))(t)
		for _, s := range f.Settings {
			if s.Allowed == "" {
				t.Errorf("%s: nothing says what %s may be", f.Name, s.Name)
			}
			if _, err := law.Parse(fmt.Sprintf("%s(%s=wrong)", f.Name, s.Name)); !errors.Is(err, law.ErrConfig) {
				t.Errorf("%s(%s=wrong): %v", f.Name, s.Name, err)
			}
			if s.Default == "" {
				continue
			}
			given, err := law.Parse(fmt.Sprintf("%s(%s=%s)", f.Name, s.Name, s.Default))
			if err != nil {
				t.Errorf("the default of %s: %v", s.Name, err)
			} else if !sameDecisions(t, plain, given) {
				t.Errorf("%v is not what %s does without the setting", given, f.Name)
			}
		}
	}
}

// sameDecisions drives both laws with the same windows.
func sameDecisions(t *testing.T, a, b law.Law) bool {
	t.Helper()
	bounds := law.Bounds{Min: 1, Max: 100, Initial: 20}
	x := must.Have(a.Controller(bounds))(t)
	y := must.Have(b.Controller(bounds))(t)
	random, limit := rand.New(rand.NewPCG(1, 1)), bounds.Initial
	for range 300 {
		w := plausible(random, limit)
		first, second := x.Next(w), y.Next(w)
		if first.Limit != second.Limit {
			return false
		}
		limit = bounds.Clamp(first.Limit, limit)
	}
	return true
}
