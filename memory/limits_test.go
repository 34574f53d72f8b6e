package memory

import (
	"errors"
	"math"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

func TestLimitIsNeverAboveTheUsers(t *testing.T) {
	m := &made{limit: 700}
	var l limits
	l.begin(m.setLimit)
	for _, step := range []struct{ users, wanted, want int64 }{
		{0, 900, 700}, {0, 500, 500}, {600, 900, 600}, {0, 500, 500}, {0, 650, 600}, {math.MaxInt64, 650, 650},
	} {
		if step.users > 0 {
			m.limit = step.users
		}
		l.move(step.wanted)
		if m.limit != step.want {
			t.Errorf("%+v: limit %d", step, m.limit)
		}
	}
	l.end()
	if m.limit != math.MaxInt64 {
		t.Errorf("limit %d at the end, want what the program set last", m.limit)
	}
}

// Between the last step and Close no step notices the program's own limit.
func TestLimitThatIsSetJustBeforeClose(t *testing.T) {
	g, m := governed(t, Config{Target: 1 << 30})
	g.begin()
	if err := g.step(); err != nil || m.limit == math.MaxInt64 {
		t.Fatalf("limit %d after a step, %v", m.limit, err)
	}
	m.setLimit(600)
	g.Close()
	if m.limit != 600 {
		t.Errorf("limit %d after Close, want the program's, 600", m.limit)
	}
}

func TestMemoryLimitIsGivenBack(t *testing.T) {
	const users = 1 << 30
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(users))
	g := must.Have(New(Config{Target: 4 << 30}))(t)
	defer g.Close()
	ended := make(chan error)
	go func() { ended <- g.Run(t.Context()) }()
	for g.Snapshot().Limit == 0 {
		runtime.Gosched()
	}
	if got := debug.SetMemoryLimit(-1); got != users {
		t.Errorf("limit %d, want the user's, which is lower", got)
	}
	if s := g.Snapshot(); s.Anonymous == 0 || s.Need == 0 || s.Resident < s.Anonymous {
		t.Errorf("of this process: %+v", s)
	}
	if err := g.Run(t.Context()); !errors.Is(err, ErrRunning) {
		t.Errorf("a second Run: %v", err)
	}
	g.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if got := debug.SetMemoryLimit(-1); got != users {
		t.Errorf("limit %d after Close", got)
	}
}
