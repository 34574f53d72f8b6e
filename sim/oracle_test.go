package sim

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

func TestSweptLimits(t *testing.T) {
	for _, highest := range []int{1, 2, 30, 39, 40, 41, 100, 1000, 1e6} {
		limits := limitsUpTo(highest)
		if len(limits) > sweepLimits || len(limits) < min(highest, sweepLimits) || limits[0] != 1 ||
			limits[len(limits)-1] != highest {
			t.Errorf("up to %d: %d limits, %v", highest, len(limits), limits)
		}
		if !slices.IsSorted(limits) || len(slices.Compact(slices.Clone(limits))) != len(limits) {
			t.Errorf("up to %d: %v", highest, limits)
		}
	}
}

// TestOracle checks a server whose throughput never falls with concurrency, so that the best
// result is known.
func TestOracle(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Phases = []Phase{{Length: 3 * time.Second}, {Length: 3 * time.Second, Workers: 0.3}}
	})
	o := must.Have(Sweep(s, 1))(t)
	for i, p := range o.Phases {
		workers := []int{10, 3}[i]
		if p.Smallest < workers || p.Smallest > workers+2 || p.Limit < p.Smallest ||
			math.Abs(float64(p.Good)/float64(300*workers)-1) > 0.02 {
			t.Errorf("phase %d: %+v", i, p)
		}
	}
}

func TestKeptOracle(t *testing.T) {
	s := steady(1500, func(s *Scenario) {
		s.Phases = []Phase{
			{Length: 2 * time.Second}, {Length: time.Second, Workers: 0.3},
		}
	})
	o := must.Have(Sweep(s, 1))(t)
	data := must.Have(json.Marshal(o))(t)
	var kept Oracle
	if err := json.Unmarshal(data, &kept); err != nil || !reflect.DeepEqual(&kept, o) {
		t.Errorf("%v, or not what was written", err)
	}
	for _, bad := range [][]byte{nil, data[:len(data)/2], []byte("{}")} {
		if err := json.Unmarshal(bad, &kept); err == nil {
			t.Errorf("read %d bytes that are no oracle", len(bad))
		}
	}
}

func TestSweepOnManyProcessors(t *testing.T) {
	s := steady(2000, func(s *Scenario) {
		s.Phases = []Phase{
			{Length: time.Second}, {Length: time.Second, Workers: 0.3},
		}
	})
	one := must.Have(Sweep(s, 1))(t)
	for _, processors := range []int{2, 100} {
		if many, err := SweepOn(processors, s, 1); err != nil || !reflect.DeepEqual(many, one) {
			t.Errorf("on %d processors: %+v, want %+v: %v", processors, many, one, err)
		}
	}
	s.SLO = -1
	_, want := Sweep(s, 1)
	if _, err := SweepOn(3, s, 1); err == nil || err.Error() != want.Error() {
		t.Errorf("of a bad scenario: %v, want %v", err, want)
	}
}
