package sim

import (
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// TestBaseline checks that no limit is no limit, whatever max a scenario allows, and 20 is
// 20.
func TestBaseline(t *testing.T) {
	s := steady(1000, func(s *Scenario) {
		s.Server, s.Limiter = Unbounded{}, Limiter{Max: 5, Initial: 5}
		s.Work, s.SLO = Constant{Mean: 100 * ms}, time.Second
		s.Phases = []Phase{{Length: 5 * time.Second}, {Length: 5 * time.Second}}
	})
	b := must.Have(BaselineOf(s, 1))(t)
	if p := b.Phases[1]; p.Unlimited < 4800 || p.Twenty < 900 || p.Twenty > 1000 || p.Possible() != p.Unlimited {
		t.Errorf("%+v", p)
	}
	r := mustRun(t, s, law.Fixed{}, 1)
	c, err := b.Compare(r)
	if err != nil || !reflect.DeepEqual(c.Good, []int{r.Phases[0].Answered, r.Phases[1].Answered}) ||
		r.Phases[0].Answered <= r.Phases[0].Good || !reflect.DeepEqual(c.Possible, b.Phases) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := b.Compare(mustRun(t, s, nil, 2)); err == nil {
		t.Error("a result of another seed is compared")
	}
	s.SLO = 0
	if _, err := BaselineOf(s, 1); err == nil {
		t.Error("a scenario without an SLO has a baseline")
	}
}
