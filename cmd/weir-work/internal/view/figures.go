package view

import (
	"fmt"
	"strconv"
	"time"

	"github.com/weir-go/weir/pool"
)

// Figures are the state of a worker at one moment.
type Figures struct {
	At      time.Time
	Backlog pool.Depth // of the stream; jobs that run are no part of it
	Fault   error      // why the backlog is not known

	Running int
	Size    int64  // how many may run
	Reason  string // of the size

	Stopping bool // no more is claimed

	Done     uint64 // jobs that succeeded
	Failed   uint64 // attempts that failed
	Rejected uint64 // jobs that became dead letters
}

func (f Figures) ended() uint64 { return f.Done + f.Failed }

// A View shows figures, and notes about single jobs. It is used by one goroutine at a time.
type View interface {
	Show(Figures)
	Note(at time.Time, text string)
	Close()
}

// looksBack is the time over which rates are taken: a few times that of most jobs.
const looksBack = 30 * time.Second

// A course is the last figures, the oldest first.
type course []Figures

// add adds figures, and forgets those from before the time over which rates are taken.
func (c *course) add(f Figures) {
	*c = append(*c, f)
	for len(*c) > 2 && f.At.Sub((*c)[1].At) >= looksBack {
		*c = (*c)[1:]
	}
}

// rates returns how many attempts end in a second, and by how much the backlog falls. They are 0
// before there are two figures.
func (c course) rates() (ended, falls float64) {
	if len(c) < 2 {
		return 0, 0
	}
	first, last := c[0], c[len(c)-1]
	seconds := last.At.Sub(first.At).Seconds()
	return float64(last.ended()-first.ended()) / seconds, float64(first.Backlog.Count-last.Backlog.Count) / seconds
}

func (c course) rate() string {
	ended, _ := c.rates()
	return number(ended) + "/s"
}

// end describes when the backlog will be gone if it goes on to fall as it does.
func (c course) end() string {
	f := c[len(c)-1]
	ended, falls := c.rates()
	switch {
	case f.Stopping && f.Running == 0:
		return "stopped"
	case f.Stopping:
		return "when what runs has ended: no more is claimed"
	case f.Fault != nil:
		return "not known"
	case f.Backlog.Count == 0 && f.Running == 0:
		return "nothing to do"
	case f.Backlog.Count == 0:
		return "what runs is all"
	case falls > 0:
		return "in about " + span(time.Duration(float64(f.Backlog.Count)/falls*float64(time.Second)))
	case falls < 0:
		return "not in sight: the backlog grows by " + number(-falls) + "/s"
	case ended == 0:
		return "not known yet: no attempt has ended lately"
	}
	return "not in sight: the backlog does not fall"
}

func (f Figures) backlog() string {
	if f.Fault != nil {
		return "not known: " + f.Fault.Error()
	}
	text := count(f.Backlog.Count)
	if !f.Backlog.Exact && f.Backlog.Count > 0 {
		text = "about " + text
	}
	if f.Backlog.Oldest > 0 {
		text += ", the oldest for " + span(f.Backlog.Oldest)
	}
	return text
}

// count renders a number with a comma between thousands.
func count[T int64 | uint64](n T) string {
	text := strconv.FormatInt(int64(n), 10)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

func number(v float64) string {
	if v < 10 {
		return fmt.Sprintf("%.1f", v)
	}
	return count(int64(v + 0.5))
}

// span renders a duration by its two largest units.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}
