package observe

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/figures"
)

// headerEvery is the number of lines below one header, which fit a screen of 24 lines.
const headerEvery = 20

// screen is the longest line in columns, the width of the narrowest terminal in use. A longer
// line would wrap.
const screen = 80

// PrintFigures prints a line a second to out until ctx ends: the sum of all compartments,
// read by meter. Collected faults are printed to problems.
func PrintFigures(ctx context.Context, out, problems io.Writer, meter *figures.Meter, faults *Faults) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for lines := 0; ; lines++ {
		select {
		case <-ctx.Done():
			return
		case now := <-tick.C:
			if lines%headerEvery == 0 {
				fmt.Fprintf(out, "%-8s %s  last change of the limit\n", "time", figures.Header)
			}
			line := meter.Read()
			fmt.Fprintln(out, fitted(fmt.Sprintf("%s %v  %s", now.Format(time.TimeOnly), line, line.Change)))
			if fault := faults.take(); fault != "" {
				fmt.Fprintln(problems, "weir:", fault)
			}
		}
	}
}

// fitted cuts a line to the width of the screen.
func fitted(line string) string {
	if letters := []rune(line); len(letters) > screen {
		return string(letters[:screen-1]) + "…"
	}
	return line
}

// Changes keep the last change of any limit. The zero Changes is ready. It is safe for
// concurrent use.
type Changes struct{ last atomic.Pointer[weir.Event] }

// Handle receives the events of limiters, as the OnEvent of a bulkhead.Config.
func (c *Changes) Handle(e weir.Event) {
	if e.Kind == weir.LimitChanged {
		c.last.Store(&e)
	}
}

// String names the compartment and its change, the new limit first, or is "" without a
// change.
func (c *Changes) String() string {
	e := c.last.Load()
	if e == nil {
		return ""
	}
	return fmt.Sprintf("%s %d: %v", e.Limiter, e.Change.To, e.Change.Reason)
}
