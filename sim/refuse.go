package sim

import "time"

// door decides which work the server refuses.
type door struct {
	serving int // units of work on the server
	tokens  float64
	filled  time.Duration // the time of the last update of tokens
}

func (e *engine) refuses(a *attempt, phase *Phase) bool {
	client, d, r := &e.scenario.Clients[a.client], &e.door, phase.Refuse
	switch {
	case client.Over || a.luck < r.Share:
		return true
	case r.Above > 0 && d.serving+client.Weight > r.Above:
		return true
	case r.Rate > 0:
		d.tokens = min(d.tokens+mul(r.Rate, (e.now-d.filled).Seconds()), max(1, r.Rate/10))
		d.filled = e.now
		if d.tokens < 1 {
			return true
		}
		d.tokens--
	}
	return false
}
