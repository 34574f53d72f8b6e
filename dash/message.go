package dash

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/law"
)

// An overview has all limiters in a line each.
type overview struct {
	Limiters []line `json:"limiters"`
	More     int    `json:"more"` // limiters that are not shown
}

type line struct {
	Name     string  `json:"name"`
	Limit    int     `json:"limit"`
	InFlight int     `json:"inFlight"`
	Queued   int     `json:"queued"`
	P95      float64 `json:"p95"`     // in milliseconds
	Refused  float64 `json:"refused"` // a second
	Shadow   bool    `json:"shadow"`
}

// Details are of one limiter: all that is kept, or what came since the last message.
type details struct {
	Name     string    `json:"name"`
	Whole    bool      `json:"whole"` // all that is kept
	Points   [][6]any  `json:"points"`
	Changes  []change  `json:"changes"`
	Refusals []refusal `json:"refusals"`
	Decision string    `json:"decision"` // the last one of the law
}

// A refusal is the count of a reason for which work was refused.
type refusal struct {
	Reason string  `json:"reason"`
	Total  uint64  `json:"total"`
	Rate   float64 `json:"rate"` // a second
}

func (h *hub) overview(names []string) []byte {
	o := overview{Limiters: []line{}, More: h.more}
	for _, name := range names {
		s := h.series[name]
		p := s.points[len(s.points)-1]
		o.Limiters = append(o.Limiters, line{
			Name: name, Limit: s.last.Limit, InFlight: s.last.InFlight, Queued: s.last.Queued,
			P95: tenths(p.p95), Refused: tenths(p.refused), Shadow: s.last.Shadow,
		})
	}
	return event("overview", o)
}

// past is the message with all that is kept.
func (s *series) past(name string) []byte {
	return s.details(details{Name: name, Whole: true}, s.points, s.changes)
}

// latest is the message with the last reading.
func (s *series) latest(name string) []byte {
	var changes []change
	if s.changed {
		changes = s.changes[len(s.changes)-1:]
	}
	return s.details(details{Name: name}, s.points[len(s.points)-1:], changes)
}

func (s *series) details(d details, points []point, changes []change) []byte {
	for _, p := range points {
		d.Points = append(d.Points, [6]any{p.at, p.limit, p.inFlight, p.queued, tenths(p.p95), tenths(p.refused)})
	}
	d.Changes = append([]change{}, changes...)
	d.Refusals = []refusal{}
	for _, reason := range weir.Reasons() {
		if total := s.last.Refused[reason]; total > 0 {
			rate := s.rate(func(snap weir.Snapshot) uint64 { return snap.Refused[reason] })
			d.Refusals = append(d.Refusals, refusal{reason.String(), total, rate})
		}
	}
	if s.last.WouldRefuse > 0 {
		rate := s.rate(func(snap weir.Snapshot) uint64 { return snap.WouldRefuse })
		d.Refusals = append(d.Refusals, refusal{"none, in shadow mode", s.last.WouldRefuse, rate})
	}
	d.Decision = "nothing to judge yet"
	if s.last.Decision.Code != law.NoReason {
		d.Decision = s.last.Decision.String()
	}
	return event("details", d)
}

func tenths(x float32) float64 { return math.Round(float64(x)*10) / 10 }

// event writes a server-sent event. The text is one line, because JSON escapes line breaks.
func event(name string, value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // numbers are finite, texts are valid
	}
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, text)
}
