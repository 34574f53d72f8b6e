package dash

import (
	"encoding/json"
	"fmt"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/law"
)

func (h *hub) overview(v view) []byte {
	o := recording.Overview{Limiters: []recording.Line{}, More: h.more[v.trusted], Tables: h.others}
	for _, name := range h.names(v) {
		s := h.series[name]
		p := s.points[len(s.points)-1]
		o.Limiters = append(o.Limiters, recording.Line{
			Name: name, Limit: s.last.Limit, InFlight: s.last.InFlight, Queued: s.last.Queued,
			P95: recording.Tenths(float64(p.P95)), Refused: recording.Tenths(float64(p.Refused)), Shadow: s.last.Shadow,
			Pool: s.pool, Tenant: s.tenant, Reserved: s.last.Reserved,
			Entitled: recording.Tenths(s.last.Entitled), Borrowed: recording.Tenths(s.last.Borrowed),
		})
	}
	return event("overview", o)
}

// past returns the message with all readings that are kept.
func (s *series) past(name string) []byte {
	return s.details(recording.Details{Name: name, Whole: true, Heat: s.heat.columns}, s.points, s.changes)
}

// latest returns the message with the last reading.
func (s *series) latest(name string) []byte {
	d := recording.Details{Name: name}
	if n := len(s.heat.columns); s.heated {
		d.Heat = s.heat.columns[n-1:]
	}
	var changes []recording.Change
	if s.changed {
		changes = s.changes[len(s.changes)-1:]
	}
	return s.details(d, s.points[len(s.points)-1:], changes)
}

func (s *series) details(d recording.Details, points []recording.Point, changes []recording.Change) []byte {
	d.Points, d.Belief = points, s.belief
	d.Changes = append([]recording.Change{}, changes...)
	d.Refusals = []recording.Refusal{}
	for _, reason := range weir.Reasons() {
		if total := s.last.Refused[reason]; total > 0 {
			rate := s.rate(func(snap weir.Snapshot) uint64 { return snap.Refused[reason] })
			d.Refusals = append(d.Refusals, recording.Refusal{Reason: reason.String(), Total: total, Rate: rate})
		}
	}
	if s.last.WouldRefuse > 0 {
		rate := s.rate(func(snap weir.Snapshot) uint64 { return snap.WouldRefuse })
		d.Refusals = append(d.Refusals, recording.Refusal{Reason: "none, in shadow mode", Total: s.last.WouldRefuse, Rate: rate})
	}
	d.Decision = s.decision()
	return event("details", d)
}

// decision returns the last decision of the law as text. A cap of a set and a pace hold work back
// below the limit, and the law does not know of them.
func (s *series) decision() string {
	last := s.last
	switch {
	case last.Decision.Code == law.NoReason:
		return "nothing to judge yet"
	case last.Decision.Code == law.Unused && last.Queued > 0 && last.InFlight < last.Limit && !s.pool:
		return last.Decision.String() + ": work waits for a cap or a pace"
	}
	return last.Decision.String()
}

// event writes a server-sent event. The text is one line, because JSON escapes line breaks.
func event(name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // numbers are finite, texts are valid
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}
