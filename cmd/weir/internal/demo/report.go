package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/figures"
)

// printer writes for a terminal of 80 columns, except for the last column of the lines a
// second.
type printer struct {
	io.Writer
	color bool
}

func (p printer) write(text string) { _, _ = io.WriteString(p, text) } // a failed write cannot be reported anywhere

const (
	bold   = "1"
	yellow = "33"
	dim    = "2"
)

func (p printer) paint(style, text string) string {
	if !p.color {
		return text
	}
	return "\x1b[" + style + "m" + text + "\x1b[0m"
}

// introduce explains the comparison.
func (p printer) introduce(duration time.Duration) {
	fmt.Fprintf(p, `Three servers on loopback, %d workers each: about %d requests/s at full speed.
Each gets the same %.0f requests/s for %v. In the middle third all of them
slow down to %d%%. An answer counts if it arrives within %v; a client gives up
after %v, but what a server has accepted it still works off.

  none   no limit
  fixed  at most %d in flight: right on the day of the load test
  adapt  %v: told when an answer is too late, and
         nothing of the server

fixed and adapt have a queue of %d, for %v at most.
`, workers, capacity(), overload*float64(capacity()), duration, slow, deadline, patience, goodDay, aim, queue.Size, queue.Timeout)
}

// heads prints the heads of the lines a second.
func (p printer) heads() {
	fmt.Fprintln(p, p.paint(dim, fmt.Sprintf("\n%8s%-*s  in time/s", "", len(figures.Header), "adaptive lane")))
	fmt.Fprintln(p, p.paint(bold, fmt.Sprintf(" s speed %s none fixed adapt  last change of the limit", figures.Header)))
}

func capacity() int { return int(workers / service.Seconds()) }

// second prints the last second.
func (p printer) second(s second) {
	name := p.paint(dim, "idle ") // the load has ended, some clients still wait
	if s.phase < len(phases) {
		name = fmt.Sprintf("%-5s", phases[s.phase].name)
		if phases[s.phase].percent < 100 {
			name = p.paint(yellow, name)
		}
	}
	fmt.Fprintf(p, "%2.0f %s %v %4d %5d %s  %s\n", s.at.Seconds(), name, s.adaptive,
		s.goodput[0], s.goodput[1], p.paint(bold, fmt.Sprintf("%5d", s.goodput[2])), s.adaptive.Change)
}

// compare prints the closing table for the completed part of the run.
func (p printer) compare(lanes []*lane, c course, ran time.Duration) {
	if ran < time.Duration(c) {
		fmt.Fprintf(p, "\nInterrupted after %v.\n", ran.Round(time.Second))
	}
	fmt.Fprintf(p, "\nAnswers within %v, per second:\n\n", deadline)
	fmt.Fprintln(p, p.paint(bold, fmt.Sprintf("%-14s %7s  %6s %6s %6s  %10s %7s %6s %6s", "",
		"overall", phases[0].name, phases[1].name, phases[2].name, "p99 served", "refused", "late", "failed")))
	for _, l := range lanes {
		row := l.row(c, ran)
		if l.name == adaptiveName {
			row = p.paint(bold, row)
		}
		fmt.Fprintln(p, row)
	}
	fmt.Fprintln(p, p.paint(dim, possible(c, ran)))
	fmt.Fprintln(p, together(loadsOf(lanes)...).reserve())
	fmt.Fprintln(p, "Late: answered after the deadline, or the client gave up.")
}

func loadsOf(lanes []*lane) (loads []*load) {
	for _, l := range lanes {
		loads = append(loads, l.load)
	}
	return loads
}

// row is the lane's line of the closing table.
func (l *lane) row(c course, ran time.Duration) string {
	l.load.mu.Lock()
	counts := slices.Clone(l.load.counts)
	l.load.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%-14s %7.1f ", l.name, float64(l.load.sum(good))/ran.Seconds())
	for phase := range phases {
		fmt.Fprintf(&b, " %6s", rate(counts[phase][good], c.lasted(phase, ran)))
	}
	fmt.Fprintf(&b, "  %10s %7d %6d %6d", figures.Latency(l.load.slowest()), l.load.sum(refused), l.load.sum(late), l.load.sum(broken))
	return b.String()
}

// possible is the line of an ideal server.
func possible(c course, ran time.Duration) string {
	var b strings.Builder
	total := 0.0
	for phase := range phases {
		lasted := c.lasted(phase, ran)
		most := float64(capacity()) * float64(phases[phase].percent) / 100
		total += most * lasted.Seconds()
		fmt.Fprintf(&b, " %6s", rate(int(most*lasted.Seconds()), lasted))
	}
	return fmt.Sprintf("%-14s %7.1f %s", "possible", total/ran.Seconds(), b.String())
}

func rate(count int, during time.Duration) string {
	if during <= 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", float64(count)/during.Seconds())
}

// lasted is the completed part of the phase.
func (c course) lasted(phase int, ran time.Duration) time.Duration {
	begin := time.Duration(phase) * c.third()
	return min(max(ran-begin, 0), c.third())
}
