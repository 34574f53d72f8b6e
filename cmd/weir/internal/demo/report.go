package demo

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// printer writes for a terminal of 80 columns, except for the notes beside the figures of a second.
type printer struct {
	io.Writer
	*demonstration
}

// introduce explains the demonstration, and begins the lines a second.
func (p printer) introduce() {
	fmt.Fprintf(p, "%s\n%9sin time/s\n", p.text, "")
	routes, servers := "        ", " s state"
	for _, l := range p.loads {
		routes += fmt.Sprintf(" %8s", l.name)
		servers += fmt.Sprintf(" %8s", l.server)
	}
	if len(p.routes) > 1 {
		fmt.Fprintln(p, routes)
	}
	fmt.Fprintln(p, strings.TrimRight(servers+"  "+p.aside, " "))
}

// second prints the timely answers of a second, by load.
func (p printer) second(at time.Duration, gained []int, during time.Duration) {
	middle, state := at-time.Second/2, "idle" // the load has ended, some clients still wait
	if middle < during {
		state = p.parts[p.part(middle)]
	}
	fmt.Fprintf(p, "%2.0f %-5s", at.Seconds(), state)
	for _, n := range gained {
		fmt.Fprintf(p, " %8d", n)
	}
	if p.watch != nil {
		fmt.Fprintf(p, "  %s", p.watch())
	}
	fmt.Fprintln(p)
}

// compare prints the closing table for the completed part of the run.
func (p printer) compare(ran, during time.Duration) {
	if ran < during {
		fmt.Fprintf(p, "\nInterrupted after %v.\n", ran.Round(time.Second))
	}
	fmt.Fprintf(p, "\nAnswered in time, of what was asked:\n\n")
	p.line("", "overall", p.parts, "p99 served", "refused", "late", "failed")
	for _, l := range p.loads {
		name := l.server
		if l.name != "" {
			name = l.name + ", " + l.server
		}
		byPart := make([][]result, len(p.parts))
		for _, ended := range l.results {
			part := p.part(ended.at)
			byPart[part] = append(byPart[part], ended)
		}
		var shares []string
		for _, results := range byPart {
			shares = append(shares, share(results))
		}
		all := l.results
		p.line(name, share(all), shares, latency(slowest(all)), count(all, refused), count(all, late), count(all, broken))
	}
	fmt.Fprintln(p, "\nLate: answered after the deadline, or the client gave up.")
}

func (p printer) line(name, overall string, parts []string, p99, refused, late, failed any) {
	fmt.Fprintf(p, "%-17s %7s", name, overall)
	for _, part := range parts {
		fmt.Fprintf(p, " %6s", part)
	}
	fmt.Fprintf(p, " %10v %7v %5v %6v\n", p99, refused, late, failed)
}

func share(results []result) string {
	if len(results) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(count(results, good))/float64(len(results)))
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
