package demo

import (
	"fmt"
	"time"
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
	fmt.Fprintf(p, "%20s%s\n", "", "in time/s")
	fmt.Fprintf(p, " s route    search   with without\n")
}

func (p printer) route(at time.Duration, r *route, with, without int) {
	state := "well"
	if inBurst(at-time.Second/2) == 1 {
		state = "burst"
	}
	fmt.Fprintf(p, "%2.0f %-8s %-6s %6d %7d\n", at.Seconds(), r.name, state, with, without)
}

// compareRoutes prints the closing table for the completed part of the run.
func (p printer) compareRoutes(all contest, ran, during time.Duration) {
	p.interrupted(ran, during)
	fmt.Fprintf(p, "\nAnswered in time, of what was asked:\n\n")
	t := closing{p, 17, 7}
	t.head("well", "burst")
	for i, r := range routes {
		for j, side := range []string{", with", ", without"} {
			l := all.entrants[j].loads[i]
			counts := l.counted()
			t.row(r.name+side, l, share(counts...), share(counts[0]), share(counts[1]))
		}
	}
	fmt.Fprintln(p, "\nLate: answered after the deadline, or the client gave up. What hangs in a burst\nfails in either.")
}

func share(parts ...[verdicts]int) string {
	answered, all := 0, 0
	for _, counts := range parts {
		answered += counts[good]
		for _, n := range counts {
			all += n
		}
	}
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(answered)/float64(all))
}
