package throttle_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/load"
	"github.com/weir-go/weir/throttle"
)

// The bands of expected behaviour, as docs/databases.md has them.
func TestBands(t *testing.T) {
	for name, c := range map[string]struct {
		writes, reads           float64 // loads
		pacedWrites, pacedReads bool
		emergency               bool
	}{
		"normal":      {writes: 0.4, reads: 0.4},
		"moderate":    {writes: 0.7, reads: 0.7},
		"high writes": {writes: 0.95, reads: 0.5, pacedWrites: true},
		"high reads":  {writes: 0.5, reads: 0.95, pacedReads: true},
		"critical":    {writes: 1.2, reads: 1.2, pacedWrites: true, pacedReads: true, emergency: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &plant{}
				p.become(func() (load.Sample, error) {
					return load.Sample{Readings: []load.Reading{
						{Name: "writes", Value: c.writes, Limit: 1, Scope: load.Writes},
						{Name: "reads", Value: c.reads, Limit: 1, Scope: load.Reads},
					}}, nil
				})
				r := run(t, p, throttle.Relay())
				pass(2 * time.Second)
				s := r.Snapshot()
				if paced := s.Writes.Pace.Rate > 0; paced != c.pacedWrites {
					t.Errorf("writes: %+v", s.Writes.Pace)
				}
				if paced := s.Reads.Pace.Rate > 0; paced != c.pacedReads {
					t.Errorf("reads: %+v", s.Reads.Pace)
				}
				if s.Writes.Emergency != c.emergency || s.Reads.Emergency != c.emergency {
					t.Errorf("emergencies: %v, %v", s.Writes.Emergency, s.Reads.Emergency)
				}
			})
		})
	}
}
