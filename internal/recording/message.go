package recording

import (
	"math"
	"strconv"
)

// These constants bound the parts of a message.
const (
	MostTables   = 64
	MostRows     = 64 // of a table
	MostRequests = 256
)

// A Message has exactly one of the parts.
type Message struct {
	Overview *Overview `json:"overview,omitempty"`
	Details  *Details  `json:"details,omitempty"`
	Requests []Request `json:"requests,omitempty"`
}

// A Request is a request that was refused.
type Request struct {
	At      int64  `json:"at"` // in milliseconds of Unix time
	ID      string `json:"id"`
	Limiter string `json:"limiter"`
	Reason  string `json:"reason"`
	Tenant  string `json:"tenant,omitempty"`
}

// An Overview has a line for each limiter, in the order of the names.
type Overview struct {
	Limiters []Line `json:"limiters"`
	More     int    `json:"more"` // limiters that are not shown
	// Tables are the state of other sources.
	Tables []Table `json:"tables,omitempty"`
}

// A Table has names and their values.
type Table struct {
	Name string      `json:"name"`
	Rows [][2]string `json:"rows"`
}

// A Line is the last reading of a limiter.
type Line struct {
	Name     string  `json:"name"`
	Limit    int     `json:"limit"`
	InFlight int     `json:"inFlight"`
	Queued   int     `json:"queued"`
	P95      float64 `json:"p95"`     // in milliseconds
	Refused  float64 `json:"refused"` // a second
	Shadow   bool    `json:"shadow"`
	Pool     bool    `json:"pool,omitempty"`   // a pool: its size is the limit, and its reserve rests
	Tenant   bool    `json:"tenant,omitempty"` // only viewers with the token may see it

	// A key of a set with a cap has these figures, as in weir.Snapshot.
	Reserved int     `json:"reserved,omitempty"`
	Entitled float64 `json:"entitled,omitempty"`
	Borrowed float64 `json:"borrowed,omitempty"`
}

// Details has the readings of one limiter: all that are kept, or the readings since the last
// message.
type Details struct {
	Name     string    `json:"name"`
	Whole    bool      `json:"whole"` // all that is kept
	Points   []Point   `json:"points"`
	Changes  []Change  `json:"changes"`
	Heat     []Column  `json:"heat,omitempty"`
	Refusals []Refusal `json:"refusals"`
	Decision string    `json:"decision"` // the last decision of the law
	Belief   Belief    `json:"belief,omitzero"`
}

// A Belief is an assumption of the law about the downstream, as far as its decisions show it.
type Belief struct {
	NoLoad float64 `json:"noLoad,omitempty"` // latency in milliseconds, 0 if unknown
	At     int64   `json:"at,omitempty"`     // when NoLoad was measured; 0 if unknown
	Target float64 `json:"target,omitempty"` // latency in milliseconds, 0 if unknown
	Signal string  `json:"signal,omitempty"` // of the target
}

// A Point is one reading. In JSON it is a row of numbers in the order of the fields.
type Point struct {
	At                               int64 // in milliseconds of Unix time
	Limit, InFlight, Queued, Resting int32
	P50, P95                         float32 // in milliseconds; 0 if nothing has succeeded
	Arrived, Completed, Refused      float32 // a second
}

// A Change is a change of the limit, in words. Several changes between two readings count as one
// change with the last reason.
type Change struct {
	At   int64  `json:"at"` // in milliseconds of Unix time
	To   int    `json:"to"`
	Up   bool   `json:"up"`
	Why  string `json:"why"`
	Text string `json:"text"`
}

// A Refusal counts the work that was refused for a reason.
type Refusal struct {
	Reason string  `json:"reason"`
	Total  uint64  `json:"total"`
	Rate   float64 `json:"rate"` // a second
}

// MarshalJSON implements [encoding/json.Marshaler].
func (p Point) MarshalJSON() ([]byte, error) {
	out := append(make([]byte, 0, 80), '[')
	out = strconv.AppendInt(out, p.At, 10)
	for _, n := range [...]int32{p.Limit, p.InFlight, p.Queued, p.Resting} {
		out = strconv.AppendInt(append(out, ','), int64(n), 10)
	}
	for _, x := range [...]float32{p.P50, p.P95, p.Arrived, p.Completed, p.Refused} {
		out = strconv.AppendFloat(append(out, ','), Tenths(float64(x)), 'f', -1, 64)
	}
	return append(out, ']'), nil
}

// Tenths rounds a number as messages have it. NaN and infinities become 0, because JSON has
// neither, and the laws and readings of a user may have both.
func Tenths(x float64) float64 {
	x = math.Round(x*10) / 10
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
