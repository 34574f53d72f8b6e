package demo

import (
	"time"

	"github.com/weir-go/weir/internal/figures"
)

// A second holds the figures of one second.
type second struct {
	at       time.Duration // its end
	phase    int           // len(phases) when the load has ended and some clients still wait
	adaptive figures.Line
	goodput  [3]int // timely answers by lane
}

// A view shows the demonstration while it runs.
type view interface {
	begin(c course)
	show(s second)
	end()
}

// view returns a live view if the screen is large enough, and otherwise lines.
func (cfg Config) view() view {
	if cfg.Size != nil {
		if columns, rows := cfg.Size(); columns >= leastColumns && rows >= leastRows {
			return &live{printer: printer{cfg.Out, cfg.Color}, size: cfg.Size}
		}
	}
	return lines{printer{cfg.Out, cfg.Color}}
}

// lines are a view of a line a second, for pipes and files.
type lines struct{ printer }

func (l lines) begin(c course) {
	l.introduce(time.Duration(c))
	l.heads()
}

func (l lines) show(s second) { l.second(s) }
func (l lines) end()          {}
