package dash

import (
	"fmt"
	"slices"

	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/throttle"
)

// A Table is shown beside the limiters: the state of a source that is no limiter, for
// [Config].Tables. Texts are cut to 128 bytes. The zero value is an empty table.
type Table struct {
	Name string      // its heading
	Rows [][2]string // a name and its value
}

// Throttles returns a function for [Config].Tables that reads throttles: the pace of each side, and
// the load and the terms from which the pace comes.
func Throttles(all ...*throttle.Throttle) func() []Table {
	return func() (tables []Table) {
		for _, t := range all {
			snap := t.Snapshot()
			tables = append(tables, sideTable(snap.Name+" reads", snap.Reads), sideTable(snap.Name+" writes", snap.Writes))
		}
		return tables
	}
}

func sideTable(name string, s throttle.SideSnapshot) Table {
	bound := func(x float64) string {
		if x == 0 {
			return "no bound"
		}
		return fmt.Sprintf("%.4g", x)
	}
	return Table{name, [][2]string{
		{"pace, 1/s", bound(s.Pace.Rate)},
		{"most in flight", bound(float64(s.MaxInFlight))},
		{"admitted/s", fmt.Sprintf("%.1f", s.Rate)},
		{"load", fmt.Sprintf("%.2f %s", s.Load, s.Level.Source)},
		{"terms p, i, d", fmt.Sprintf("%.3g, %.3g, %.3g", s.PID.P, s.PID.I, s.PID.D)},
		{"emergencies", fmt.Sprint(s.Emergencies)},
		{"without signals", fmt.Sprint(s.Degraded)},
	}}
}

// cut returns the tables within the bounds of a message.
func cut(all []Table) (tables []recording.Table) {
	for _, t := range all[:min(len(all), recording.MostTables)] {
		rows := slices.Clone(t.Rows[:min(len(t.Rows), recording.MostRows)])
		for i, r := range rows {
			rows[i] = [2]string{label.Clean(r[0]), label.Clean(r[1])}
		}
		tables = append(tables, recording.Table{Name: label.Clean(t.Name), Rows: rows})
	}
	return tables
}
