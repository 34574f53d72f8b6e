package demo

import (
	"fmt"
	"slices"
	"time"

	"github.com/weir-go/weir/internal/figures"
)

// introduceBulkhead explains the demonstration.
func (p printer) introduceBulkhead(during time.Duration) {
	fmt.Fprintf(p, `Two servers on loopback, each with two routes over one pool of %d connections,
for %v:

  search    %.0f requests/s, %v each: %.0f connections. An answer counts within
            %v. Every %v, for %v, %.0f%% of them hang for %v and then fail.
  checkout  %.0f requests/s, %v each: %.1f connections. An answer counts within
            %v.

A client gives up after %v. One server has a bulkhead of %d slots: %d are for
checkout alone, the others for whoever asks first, and each route has a queue of
%d, for %v at most. The other has none.

`, connections, during,
		search.rate, search.takes, search.need(), search.deadline,
		burstEvery, burstEvery/2, 100*burstShare, burstHangs,
		checkout.rate, checkout.takes, checkout.need(), checkout.deadline,
		patience, connections, kept, queue.Size, queue.Timeout)
	fmt.Fprintln(p, p.paint(dim, fmt.Sprintf("%19s%-*s  in time/s", "", len(figures.Header), "with the bulkhead")))
	fmt.Fprintln(p, p.paint(bold, fmt.Sprintf(" s route    search %s   with without", figures.Header)))
}

// route prints the last second of a route.
func (p printer) route(at time.Duration, r *route, line figures.Line, with, without int) {
	state := "well  "
	if inBurst(at-time.Second/2) == 1 {
		state = p.paint(yellow, "burst ")
	}
	fmt.Fprintf(p, "%2.0f %-8s %s %v  %s %7d\n", at.Seconds(), r.name, state, line, p.paint(bold, fmt.Sprintf("%5d", with)), without)
}

// compareSides prints the closing table for the completed part of the run.
func (p printer) compareSides(ran, during time.Duration, with, without *side) {
	if ran < during {
		fmt.Fprintf(p, "\nInterrupted after %v.\n", ran.Round(time.Second))
	}
	fmt.Fprintf(p, "\nAnswered in time, of what was asked:\n\n")
	fmt.Fprintln(p, p.paint(bold, fmt.Sprintf("%-17s %7s  %7s %7s  %10s %7s %6s %6s", "",
		"overall", "well", "burst", "p99 served", "refused", "late", "failed")))
	for i, r := range routes {
		fmt.Fprintln(p, p.paint(bold, with.loads[i].summary(r.name+", with")))
		fmt.Fprintln(p, without.loads[i].summary(r.name+", without"))
	}
	fmt.Fprintln(p, together(slices.Concat(with.loads[:], without.loads[:])...).reserve())
	fmt.Fprintln(p, "Late: answered after the deadline, or the client gave up. What hangs in a burst\nfails in either.")
}

// summary is the load's line of the closing table.
func (l *load) summary(name string) string {
	l.mu.Lock()
	counts := slices.Clone(l.counts)
	l.mu.Unlock()
	var total [verdicts]int
	for _, part := range counts {
		for v, n := range part {
			total[v] += n
		}
	}
	return fmt.Sprintf("%-17s %7s  %7s %7s  %10s %7d %6d %6d", name, share(total), share(counts[0]), share(counts[1]),
		figures.Latency(l.slowest()), total[refused], total[late], total[broken])
}

// share is the share of good requests.
func share(counts [verdicts]int) string {
	all := 0
	for _, n := range counts {
		all += n
	}
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(counts[good])/float64(all))
}
