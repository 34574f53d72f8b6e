package dash

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir/capacity"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/pool"
)

// The size of a pool is drawn as a limit, with the reason of each change, its reserve and its
// backlog.
func TestPoolsAreShownAsLimiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
		var jobs []pool.Task
		for i := range 40 {
			jobs = append(jobs, pool.Task{Key: fmt.Sprint(i), Run: func(ctx context.Context) (any, error) {
				time.Sleep(time.Second)
				return nil, nil
			}})
		}
		p := must.Have(pool.New(pool.Config{Capacity: slots, Source: pool.Slice(jobs), Scaler: pool.ByBacklog{Min: 3, High: 10, Low: 4}}))(t)
		h := newHub(Config{Read: Limiters()})
		h.config.Pools = map[string]*pool.Pool{"mails": p}
		defer end(h)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for range p.Run(t.Context()) {
			}
		}()
		c := join(t, h, "mails")
		var changes []recording.Change
		var o recording.Overview
		most := recording.Point{}
		for range 30 {
			overview, d := next(t, c)
			o, changes = overview, append(changes, d.Changes...)
			for _, p := range d.Points {
				most.Limit, most.Queued, most.Resting = max(most.Limit, p.Limit), max(most.Queued, p.Queued), max(most.Resting, p.Resting)
			}
		}
		<-ended
		if !o.Limiters[0].Pool || most.Limit != 6 || most.Queued < 20 || most.Resting < 2 {
			t.Errorf("%+v, at most %+v", o.Limiters, most)
		}
		if len(changes) < 2 || changes[0].Text[:len("slots: backlog ")] != "slots: backlog " {
			t.Errorf("changes %+v", changes)
		}
		if len(o.Tables) != 1 || o.Tables[0].Rows[3][1] != "40" || o.Tables[0].Rows[5][0] != "slots" {
			t.Errorf("tables %+v", o.Tables)
		}
	})
}

// A script is a scaler that decides on each of its sizes for a tenth of a second.
type script []int64

func (s script) Sizer(int64) (pool.Sizer, error) { return &steps{sizes: s}, nil }

type steps struct{ sizes script }

func (s *steps) Plan() pool.Plan {
	return pool.Plan{Initial: s.sizes[0], Min: 1, Max: 6, Period: 100 * time.Millisecond}
}

func (s *steps) Next(o pool.Observation) (int64, pool.Reason) {
	size := s.sizes[0]
	s.sizes = s.sizes[min(1, len(s.sizes)-1):]
	code := map[bool]pool.Code{true: pool.Within, false: pool.Above}[size == o.Size]
	return size, pool.Reason{Code: code, Signal: "load", Have: float64(size), Want: 1}
}

// A pool may decide several times between two readings: its change has the reason of the decision
// that made it, and not of one that held the size after it.
func TestChangesOfPoolsHaveTheirReasons(t *testing.T) {
	const several = " (in several changes, the last for this reason)"
	for _, c := range []struct {
		sizes script
		want  []string
	}{
		{script{3, 3, 4, 4}, []string{"slots: load 4 above 1: raised 3 to 4"}},
		{script{3, 3, 4, 5, 6, 6}, []string{"slots: load 6 above 1: raised 3 to 6" + several}},
		{script{3, 3, 4, 3, 3}, nil},
		{script{3, 3, 4, 4, 4, 4, 4, 4, 5, 5}, []string{"slots: load 4 above 1: raised 3 to 4", "slots: load 5 above 1: raised 4 to 5"}},
	} {
		synctest.Test(t, func(t *testing.T) {
			slots := must.Have(capacity.New(capacity.Vector{"slots": 6}))(t)
			jobs := pool.Slice([]pool.Task{{Key: "a", Run: func(context.Context) (any, error) {
				time.Sleep(3 * time.Second)
				return nil, nil
			}}})
			p := must.Have(pool.New(pool.Config{Capacity: slots, Source: jobs, Scaler: c.sizes}))(t)
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for range p.Run(t.Context()) {
				}
			}()
			time.Sleep(50 * time.Millisecond) // no reading at the time of a decision
			h := newHub(Config{Read: Limiters()})
			h.config.Pools = map[string]*pool.Pool{"mails": p}
			defer end(h)
			client := join(t, h, "mails")
			var changes []string
			for range 4 {
				_, d := next(t, client)
				for _, c := range d.Changes {
					changes = append(changes, c.Text)
				}
			}
			<-ended
			if !slices.Equal(changes, c.want) {
				t.Errorf("%v: %q, want %q", c.sizes, changes, c.want)
			}
		})
	}
}

func TestReadingsOfPools(t *testing.T) {
	alone := poolReading(pool.Snapshot{Running: 2, Ready: 3, Blocked: 4, Completed: 5, Failed: 6})
	if alone.Limit != 2 || alone.Queued != 7 || alone.Admitted != 13 || alone.Completed != 11 {
		t.Errorf("without a scaler: %+v", alone)
	}
	ofBytes := poolReading(pool.Snapshot{Decisions: []pool.Decision{{To: 1 << 40, Most: 1 << 41}}})
	if ofBytes.Limit != math.MaxInt32 || ofBytes.Resting != math.MaxInt32 {
		t.Errorf("of a terabyte: %+v, want what a recording can have", ofBytes)
	}
}
