package oraclecache_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/oraclecache"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

func TestCacheOfOracles(t *testing.T) {
	cache := oraclecache.Cache(filepath.Join(t.TempDir(), "new"))
	s := suites.Acceptance()[0]
	s.Phases[0].Length = time.Second
	first := must.Have(cache.Sweep(1, s, 1))(t)
	s.Limiter.Law, s.Limiter.Queue.Adaptive = law.Little{}, true // an oracle ignores them
	again, err := cache.Sweep(1, s, 1)
	if err != nil || !reflect.DeepEqual(first, again) {
		t.Errorf("%v, or another oracle", err)
	}
	files, err := filepath.Glob(filepath.Join(string(cache), "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}

	forged := *first
	forged.Phases = []sim.OraclePhase{{Limit: 77}}
	data := must.Have(json.Marshal(&forged))(t)
	for _, c := range []struct {
		content []byte
		seed    uint64
		stored  bool
	}{{data, 1, true}, {data, 2, false}, {[]byte("no oracle"), 1, false}} {
		must.Do(t, os.WriteFile(files[0], c.content, 0o600))
		o, err := cache.Sweep(1, s, c.seed)
		if err != nil || (o.Phases[0].Limit == 77) != c.stored {
			t.Errorf("%.9q, seed %d: %+v, %v", c.content, c.seed, o, err)
		}
	}
}

// An oracle tries no limit above 1000, unless the minimum is higher.
func TestCacheKeepsMinimumsApart(t *testing.T) {
	cache := oraclecache.Cache(t.TempDir())
	s := sim.Scenario{
		Name: "wide", Arrivals: sim.Poisson{Rate: 2000}, Work: sim.Constant{Mean: time.Second}, Server: sim.Unbounded{},
		SLO: 2 * time.Second, Phases: []sim.Phase{{Length: 3 * time.Second}},
	}
	low := must.Have(cache.Sweep(1, s, 1))(t)
	s.Limiter.Min = 3000
	if high := must.Have(cache.Sweep(1, s, 1))(t); high.Phases[0].Good < low.Phases[0].Good*3/2 {
		t.Errorf("%d good answers at limits of up to 3000, %d at up to 1000", high.Phases[0].Good, low.Phases[0].Good)
	}
}
