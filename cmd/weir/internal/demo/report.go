package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printer writes for a terminal of 80 columns, except for the last column of the lines a
// second.
type printer struct{ io.Writer }

// A second holds the figures of one second.
type second struct {
	at      time.Duration   // its end
	phase   int             // len(phases) when the load has ended and some clients still wait
	goodput [len(lanes)]int // timely answers
	limit   int             // of the adaptive lane
	change  string          // the last one of it
}

// introduce explains the demonstration.
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
	fmt.Fprintf(p, "\n%8s%16s  adaptive lane\n", "", "in time/s")
	fmt.Fprintf(p, " s speed  none fixed adapt  limit  last change of the limit\n")
}

func capacity() int { return int(workers / service.Seconds()) }

func (p printer) second(s second) {
	name := "idle" // the load has ended, some clients still wait
	if s.phase < len(phases) {
		name = phases[s.phase].name
	}
	fmt.Fprintf(p, "%2.0f %-5s %5d %5d %5d  %5d  %s\n", s.at.Seconds(), name, s.goodput[0], s.goodput[1], s.goodput[2], s.limit, s.change)
}

// compare prints the closing table for the completed part of the run.
func (p printer) compare(all contest, c course, ran time.Duration) {
	p.interrupted(ran, time.Duration(c))
	fmt.Fprintf(p, "\nAnswers within %v, per second:\n\n", deadline)
	t := closing{p, 14, 6}
	t.head(phases[0].name, phases[1].name, phases[2].name)
	for i, e := range all.entrants {
		l := e.loads[0]
		overall, parts := fmt.Sprintf("%.1f", float64(l.sum(good))/ran.Seconds()), make([]string, len(phases))
		for phase, counts := range l.counted() {
			parts[phase] = rate(counts[good], c.lasted(phase, ran))
		}
		t.row(lanes[i].name, l, overall, parts...)
	}
	fmt.Fprintln(p, possible(c, ran))
	fmt.Fprintln(p, "\nLate: answered after the deadline, or the client gave up.")
}

func (p printer) interrupted(ran, during time.Duration) {
	if ran < during {
		fmt.Fprintf(p, "\nInterrupted after %v.\n", ran.Round(time.Second))
	}
}

// A closing table has the widths of names and of the parts of a run.
type closing struct {
	printer

	names, parts int
}

func (t closing) line(name, overall string, parts []string, p99, refused, late, failed any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s %7s ", t.names, name, overall)
	for _, part := range parts {
		fmt.Fprintf(&b, " %*s", t.parts, part)
	}
	fmt.Fprintf(&b, "  %10v %7v %6v %6v", p99, refused, late, failed)
	return b.String()
}

func (t closing) head(parts ...string) {
	fmt.Fprintln(t, t.line("", "overall", parts, "p99 served", "refused", "late", "failed"))
}

func (t closing) row(name string, l *load, overall string, parts ...string) {
	fmt.Fprintln(t, t.line(name, overall, parts, latency(l.slowest()), l.sum(refused), l.sum(late), l.sum(broken)))
}

// latency writes a latency, and a dash for none.
func latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%.0fms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
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

func (c course) lasted(phase int, ran time.Duration) time.Duration {
	begin := time.Duration(phase) * c.third()
	return min(max(ran-begin, 0), c.third())
}
