package demo

import (
	"fmt"
	"strings"
	"time"
)

// introduce prints the explanation of the demonstration, and the heading above the line of each
// second.
func (d *demonstration) introduce() {
	fmt.Fprintf(d.out, "%s\n%9sin time/s\n", d.text, "")
	routes, servers := "        ", " s state"
	for _, l := range d.loads {
		routes += fmt.Sprintf(" %8s", l.name)
		servers += fmt.Sprintf(" %8s", l.server)
	}
	if len(d.routes) > 1 {
		fmt.Fprintln(d.out, routes)
	}
	fmt.Fprintln(d.out, strings.TrimRight(servers+"  "+d.aside, " "))
}

// second prints the timely answers of a second, by load.
func (d *demonstration) second(at time.Duration, gained []int, during time.Duration) {
	middle, state := at-time.Second/2, "idle" // the load has ended, some clients still wait
	if middle < during {
		state = d.parts[d.part(middle)]
	}
	fmt.Fprintf(d.out, "%2.0f %-5s", at.Seconds(), state)
	for _, n := range gained {
		fmt.Fprintf(d.out, " %8d", n)
	}
	if d.watch != nil {
		fmt.Fprintf(d.out, "  %s", d.watch())
	}
	fmt.Fprintln(d.out)
}

// compare prints the closing table for the completed part of the run.
func (d *demonstration) compare(ran, during time.Duration) {
	if ran < during {
		fmt.Fprintf(d.out, "\nInterrupted after %v.\n", ran.Round(time.Second))
	}
	fmt.Fprintf(d.out, "\nAnswered in time, of what was asked:\n\n")
	d.line("", "overall", d.parts, "p99 served", "refused", "late", "failed")
	for _, l := range d.loads {
		name := l.server
		if l.name != "" {
			name = l.name + ", " + l.server
		}
		byPart := make([][]result, len(d.parts))
		for _, ended := range l.results {
			part := d.part(ended.at)
			byPart[part] = append(byPart[part], ended)
		}
		var shares []string
		for _, results := range byPart {
			shares = append(shares, share(results))
		}
		all := l.results
		d.line(name, share(all), shares, latency(slowest(all)), count(all, refused), count(all, late), count(all, broken))
	}
	fmt.Fprintln(d.out, "\nLate: answered after the deadline, or the client gave up.")
}

func (d *demonstration) line(name, overall string, parts []string, p99, refused, late, failed any) {
	fmt.Fprintf(d.out, "%-17s %7s", name, overall)
	for _, part := range parts {
		fmt.Fprintf(d.out, " %6s", part)
	}
	fmt.Fprintf(d.out, " %10v %7v %5v %6v\n", p99, refused, late, failed)
}

func share(results []result) string {
	if len(results) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(count(results, good))/float64(len(results)))
}

// latency writes a latency, or a dash if no answer came.
func latency(d time.Duration) string {
	switch {
	case d <= 0:
		return "-"
	case d < time.Second:
		return fmt.Sprintf("%.0fms", d.Seconds()*1000)
	}
	return fmt.Sprintf("%.1fs", d.Seconds())
}
