package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/weir-go/weir/internal/label"
)

const (
	MostTables   = 64  // of a message
	MostRows     = 64  // of a table
	MostRequests = 256 // of a message

	mostText = 1 << 10 // bytes of a reason or a decision
	mostAt   = 1 << 53 // milliseconds: JavaScript keeps them exactly
)

// UnmarshalJSON implements [encoding/json.Unmarshaler].
func (p *Point) UnmarshalJSON(text []byte) error {
	var row []float64
	if err := json.Unmarshal(text, &row); err != nil {
		return err
	}
	if len(row) != columns {
		return fmt.Errorf("a reading has %d numbers: want %d", len(row), columns)
	}
	for i, most := range [columns]float64{mostAt, math.MaxInt32, math.MaxInt32, math.MaxInt32, math.MaxInt32, 1e12, 1e12, 1e12, 1e12, 1e12} {
		if row[i] < 0 || row[i] > most {
			return fmt.Errorf("number %d of a reading is %g: want 0 to %g", i+1, row[i], most)
		}
	}
	*p = Point{
		At:    int64(row[0]),
		Limit: int32(row[1]), InFlight: int32(row[2]), Queued: int32(row[3]), Resting: int32(row[4]),
		P50: float32(row[5]), P95: float32(row[6]),
		Arrived: float32(row[7]), Completed: float32(row[8]), Refused: float32(row[9]),
	}
	return nil
}

func (m Message) check() error {
	switch o, d, r := m.Overview != nil, m.Details != nil, len(m.Requests) > 0; {
	case o && !d && !r:
		return m.Overview.check()
	case d && !o && !r:
		return m.Details.check()
	case r && !o && !d:
		return checkRequests(m.Requests)
	}
	return errors.New("is no message: want one of overview, details and requests")
}

// size is how many readings, changes, columns and requests the message has.
func (m Message) size() int {
	if m.Details != nil {
		return len(m.Details.Points) + len(m.Details.Changes) + len(m.Details.Heat)
	}
	return len(m.Requests)
}

func checkRequests(all []Request) error {
	if len(all) > MostRequests {
		return fmt.Errorf("has %d requests: want %d at most", len(all), MostRequests)
	}
	for _, r := range all {
		if err := errors.Join(checkTime(r.At), checkName(r.ID), checkName(r.Limiter), checkName(r.Reason), checkName(r.Tenant)); err != nil {
			return err
		}
	}
	return nil
}

func checkTime(at int64) error {
	if at < 0 || at > mostAt {
		return fmt.Errorf("has the time %d: want milliseconds since 1970", at)
	}
	return nil
}

func (o *Overview) check() error {
	for _, l := range o.Limiters {
		if err := checkName(l.Name); err != nil {
			return err
		}
	}
	if len(o.Tables) > MostTables {
		return fmt.Errorf("has %d tables: want %d at most", len(o.Tables), MostTables)
	}
	for _, t := range o.Tables {
		if len(t.Rows) > MostRows {
			return fmt.Errorf("has a table of %d rows: want %d at most", len(t.Rows), MostRows)
		}
		for _, text := range append([][2]string{{t.Name}}, t.Rows...) {
			if err := errors.Join(checkName(text[0]), checkName(text[1])); err != nil {
				return err
			}
		}
	}
	return nil
}

func (d *Details) check() error {
	if err := checkName(d.Name); err != nil {
		return err
	}
	for i := 1; i < len(d.Points); i++ {
		if d.Points[i].At <= d.Points[i-1].At {
			return fmt.Errorf("has the reading of %d after that of %d: want them in the order of time", d.Points[i].At, d.Points[i-1].At)
		}
	}
	for i, c := range d.Heat {
		if err := checkTime(c.At); err != nil {
			return err
		}
		if i > 0 && c.At <= d.Heat[i-1].At {
			return fmt.Errorf("has the column of %d after that of %d: want them in the order of time", c.At, d.Heat[i-1].At)
		}
	}
	if b := d.Belief; b.NoLoad < 0 || b.Target < 0 || checkTime(b.At) != nil {
		return fmt.Errorf("has the belief %v: want no number below 0", b)
	}
	texts := []string{d.Decision, d.Belief.Signal}
	for _, c := range d.Changes {
		if err := checkTime(c.At); err != nil {
			return err
		}
		texts = append(texts, c.Why, c.Text)
	}
	for _, r := range d.Refusals {
		texts = append(texts, r.Reason)
	}
	for _, text := range texts {
		if len(text) > mostText {
			return fmt.Errorf("has a text of %d bytes: want %d at most", len(text), mostText)
		}
	}
	return nil
}

func checkName(name string) error {
	if len(name) > label.Max || !utf8.ValidString(name) {
		return fmt.Errorf("has a name of %d bytes: want %d at most", len(name), label.Max)
	}
	return nil
}
