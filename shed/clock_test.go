package shed

import (
	"context"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/load"
)

// silent is a source that is not asked.
type silent struct{}

func (silent) Name() string { return "silent" }

func (silent) Poll(context.Context) (load.Sample, error) { return load.Sample{}, nil }

// A level from a future time is not used until then: after a clock went back, it would refuse
// work for that long.
func TestLevelFromBeforeTheClockWentBack(t *testing.T) {
	monitor, err := load.New(load.Config{Sources: []load.Source{silent{}}}) // that does not run: its load is 0
	if err != nil {
		t.Fatal(err)
	}
	s := must.Have(New(monitor, Config{}))(t)
	s.level.Store(&level{at: time.Now().Add(time.Hour), load: 9})
	if got := s.Snapshot().Load; got != 0 {
		t.Errorf("load %v, want that of now, which is 0", got)
	}
}
