package stress

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/weir-go/weir"
)

// A snapshot is of one moment, however much happens meanwhile.
func TestSnapshotsAreOfOneMoment(t *testing.T) {
	l := weir.Must(weir.New(weir.Config{Min: 100, Histograms: true, Exemplar: func(context.Context) string { return "trace" }}))
	const workers, each = 4, 500
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for range each {
				if err := l.Do(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range each / 10 {
				s := l.Snapshot()
				if s.Latencies.Count != s.Succeeded || s.Peak < s.InFlight {
					t.Errorf("%+v: want a snapshot of one moment", s)
				}
				if _, err := json.Marshal(s); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if s := l.Snapshot(); s.Latencies.Count != workers*each || s.Peak < 1 || s.Peak > workers {
		t.Errorf("%+v: want %d latencies", s, workers*each)
	}
}
