package recording

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

const (
	mostRequests = 5_000_000
	longestGap   = 1000 // milliseconds between two readings; after more, the rate is unknown
)

// Trace writes the requests of a limiter as CSV with the columns arrival, service, p50 and p95,
// for package sim. The requests between two readings are spread evenly. Their service time is the
// least median of the latency in the recording. The name may be empty if there is one limiter.
func (all *Recording) Trace(limiter string, to io.Writer) error {
	d, err := all.limiter(limiter)
	if err != nil {
		return err
	}
	service, total := least(d.Points), 0.0
	each(d.Points, func(_ int, _, _, requests float64) { total += requests })
	switch {
	case service == 0:
		return fmt.Errorf("limiter %q has no latency in the recording: want one that had work", d.Name)
	case total < 1:
		return fmt.Errorf("limiter %q had no request in the recording", d.Name)
	case total > mostRequests:
		return fmt.Errorf("limiter %q had %.3g requests: want %d at most, in a shorter recording", d.Name, total, mostRequests)
	}
	out := bufio.NewWriter(to)
	fmt.Fprintln(out, "arrival,service,p50,p95")
	due := 0.0
	each(d.Points, func(i int, from, gap, requests float64) {
		p := d.Points[i]
		due += requests
		for k := 0.0; due >= 1; k++ {
			fmt.Fprintf(out, "%.6f,%gms,%gms,%gms\n", from+gap*k/requests, service, max(p.P50, service), max(p.P95, service))
			due--
		}
	})
	return out.Flush()
}

// each calls a function for each reading that has one before it, with the seconds from the first
// reading to that one, the seconds between the two, and the requests in that time.
func each(points []Point, do func(i int, from, gap, requests float64)) {
	for i := 1; i < len(points); i++ {
		gap := min(points[i].At-points[i-1].At, longestGap)
		do(i, float64(points[i].At-gap-points[0].At)/1000, float64(gap)/1000, float64(points[i].Arrived)*float64(gap)/1000)
	}
}

func (all *Recording) limiter(name string) (*Details, error) {
	names := slices.Sorted(maps.Keys(all.Limiters))
	if name == "" && len(names) == 1 {
		name = names[0]
	}
	if d := all.Limiters[name]; d != nil {
		return d, nil
	}
	return nil, fmt.Errorf("has no limiter %q: want --limiter with one of %.500q", name, strings.Join(names, ", "))
}

// least is the least median in milliseconds, or 0 if there is none.
func least(points []Point) (ms float32) {
	for _, p := range points {
		if p.P50 > 0 && (ms == 0 || p.P50 < ms) {
			ms = p.P50
		}
	}
	return ms
}
