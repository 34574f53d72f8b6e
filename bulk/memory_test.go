package bulk

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/memory"
)

// The bytes in flight stay inside the budget of the governor, which is 256 KiB here, but for a
// longer line, which goes alone.
func TestBytesInFlightAreBounded(t *testing.T) {
	gov, err := memory.New(memory.Config{Target: 16 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer gov.Close()
	const budget = 256 << 10
	_, rejects := files(t)
	var now, most, large atomic.Int64
	line, long := strings.Repeat("x", 20<<10)+"\n", strings.Repeat("y", 2*readBuffer)+"\n"
	p, err := Run(t.Context(), strings.NewReader(strings.Repeat(line, 200)+long+strings.Repeat(line, 200)), Config{
		Memory: gov, Rejects: rejects, Write: func(_ context.Context, l Line) error {
			size := int64(len(l.Text))
			sum := now.Add(size)
			defer now.Add(-size)
			if size > readBuffer {
				large.Store(sum)
			} else {
				most.Store(max(most.Load(), sum))
			}
			<-time.After(time.Millisecond)
			if l.Number%50 == 0 {
				return Reject(context.Canceled)
			}
			return nil
		},
	})
	if err != nil || p.Lines != 401 || p.Rejected != 8 || p.Waited == 0 {
		t.Errorf("%+v, %v", p, err)
	}
	if most.Load() > budget || most.Load() < budget/2 {
		t.Errorf("%d bytes in flight, want up to %d", most.Load(), budget)
	}
	if large.Load() != 2*readBuffer {
		t.Errorf("the long line went with %d bytes in flight", large.Load())
	}
	if s := gov.Snapshot(); s.InFlight != 0 {
		t.Errorf("%d bytes are not given back", s.InFlight)
	}
}

// A line of 100 MB arrives as a whole, and alone, if it is allowed.
func TestLineOf100MB(t *testing.T) {
	longtest.Skip(t)
	gov, err := memory.New(memory.Config{Target: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer gov.Close()
	const maxLine = 128 << 20
	line := strings.Repeat("x", 100_000_000)
	var whole, inFlight atomic.Int64
	p, err := Run(t.Context(), strings.NewReader("one\n"+line+"\nthree\n"), Config{
		Memory: gov, MaxLine: maxLine, Write: func(_ context.Context, l Line) error {
			if l.Number == 2 && string(l.Text) == line {
				whole.Add(1)
				inFlight.Store(int64(gov.Snapshot().InFlight))
			}
			return nil
		},
	})
	if err != nil || p.Lines != 3 || whole.Load() != 1 || inFlight.Load() != maxLine {
		t.Errorf("%+v, %v, written %d times as a whole, with %d bytes in flight, want %d", p, err, whole.Load(), inFlight.Load(), maxLine)
	}
}
