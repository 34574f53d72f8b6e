package recording

import (
	"encoding/json"
	"errors"
	"fmt"
)

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (p *Point) UnmarshalJSON(text []byte) error {
	row := []any{
		&p.At, &p.Limit, &p.InFlight, &p.Queued, &p.Resting,
		&p.P50, &p.P95, &p.Arrived, &p.Completed, &p.Refused,
	}
	columns := len(row)
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row) != columns {
		return fmt.Errorf("a reading has %d numbers: want %d", len(row), columns)
	}
	return nil
}

// check returns an error unless the message has exactly one of its parts, within its bounds and in
// the order of time.
func (m Message) check() error {
	parts := 0
	for _, there := range []bool{m.Overview != nil, m.Details != nil, len(m.Requests) > 0} {
		if there {
			parts++
		}
	}
	if parts != 1 {
		return errors.New("is no message: want one of overview, details and requests")
	}
	if n := len(m.Requests); n > MostRequests {
		return fmt.Errorf("has %d requests: want at most %d", n, MostRequests)
	}
	if d := m.Details; d != nil {
		return errors.Join(
			ordered("reading", d.Points, func(p Point) int64 { return p.At }),
			ordered("column", d.Heat, func(c Column) int64 { return c.At }))
	}
	return nil
}

func ordered[T any](what string, all []T, at func(T) int64) error {
	for i := 1; i < len(all); i++ {
		if before, now := at(all[i-1]), at(all[i]); now <= before {
			return fmt.Errorf("has the %s of %d after that of %d: want them in the order of time", what, now, before)
		}
	}
	return nil
}

// size is how many readings, changes, columns and requests the message has.
func (m Message) size() int {
	if m.Details != nil {
		return len(m.Details.Points) + len(m.Details.Changes) + len(m.Details.Heat)
	}
	return len(m.Requests)
}
