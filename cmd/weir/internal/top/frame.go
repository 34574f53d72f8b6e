package top

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/terminal"
	"github.com/weir-go/weir/internal/recording"
)

type row = terminal.Row

const (
	nameColumns  = 12 // left of a chart
	valueColumns = 10 // right of it
	tallest      = 6  // rows of a chart
	leastChanges = 2  // rows
)

type measure struct {
	name, style string
	value       func(recording.Point) float32
	unit        string
}

var measures = []measure{
	{"limit", terminal.Cyan, func(p recording.Point) float32 { return float32(p.Limit) }, ""},
	{"in flight", terminal.Green, func(p recording.Point) float32 { return float32(p.InFlight) }, ""},
	{"queued", terminal.Yellow, func(p recording.Point) float32 { return float32(p.Queued) }, ""},
	{"p95", "", func(p recording.Point) float32 { return p.P95 }, " ms"},
	{"refused", terminal.Red, func(p recording.Point) float32 { return p.Refused }, "/s"},
}

// Frame returns the rows of a screen: the limiters, and one of them with its charts, its refusals
// and its last changes. They are fewer than rows, but for the smallest screens.
func (s *Screen) Frame(columns, rows int) (out []row) {
	out = append(out, row{terminal.In(terminal.Bold, "weir top "), terminal.In("", terminal.Clean(s.State)+"  "), terminal.In(terminal.Dim, terminal.Clean(s.Title))})
	out = append(out, s.list(max(rows/4, 3))...)
	out = append(out, nil, row{terminal.In(terminal.Bold, named(s.shown.Name)), terminal.In("", "  "+terminal.Clean(s.shown.Decision))})
	refusals := s.refusals()
	free := rows - 1 - len(out) - len(refusals) - 1 // the last row is empty, one is a heading
	height := min(max((free-leastChanges)/len(measures), 1), tallest)
	for _, m := range measures {
		out = append(out, s.chart(m, height, max(columns-nameColumns-valueColumns, 1))...)
	}
	out = append(out, refusals...)
	return append(out, s.changes(rows-1-len(out))...)
}

func named(name string) string {
	if name = terminal.Clean(name); name == "" {
		return "(no name)"
	}
	return name
}

func (s *Screen) list(most int) []row {
	line := func(l, figures string) string {
		letters := []rune(l)
		return fmt.Sprintf("%-25s%s", string(letters[:min(len(letters), 24)]), figures)
	}
	out := []row{{terminal.In(terminal.Dim, line("limiter", fmt.Sprintf("%7s%10s%8s%10s%11s", "limit", "in flight", "queued", "p95", "refused/s")))}}
	more := s.more
	for i, l := range s.limiters {
		if i+2 > most { // the first line is the heading
			more += len(s.limiters) - i
			break
		}
		style := ""
		if l.Name == s.shown.Name {
			style = terminal.Bold
		}
		figures := fmt.Sprintf("%7d%10d%8d%10s%11.1f", l.Limit, l.InFlight, l.Queued, latency(l.P95), l.Refused)
		if l.Shadow {
			figures += " shadow"
		}
		out = append(out, row{terminal.In(style, line(named(l.Name), figures))})
	}
	if more > 0 {
		out = append(out, row{terminal.In(terminal.Dim, fmt.Sprintf("%d more; --limiter shows one of them", more))})
	}
	return out
}

func latency(ms float64) string {
	if ms == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f ms", ms)
}

// chart draws the last readings of a measure, the newest on the right.
func (s *Screen) chart(m measure, height, width int) []row {
	values, most, now := make([]float64, width), 1.0, "-"
	points := s.shown.Points
	for i := range values {
		values[i] = math.NaN()
		if at := len(points) - width + i; at >= 0 {
			values[i] = float64(m.value(points[at]))
			most = max(most, values[i])
		}
	}
	if n := len(points); n > 0 {
		now = fmt.Sprintf("%.0f%s", m.value(points[n-1]), m.unit)
	}
	rows := make([]row, height)
	for i, bars := range terminal.Bars(values, most, height) {
		name, value := "", ""
		if i == 0 {
			name = m.name
		}
		if i == height-1 {
			value = now
		}
		rows[i] = row{terminal.In("", fmt.Sprintf("%-*s", nameColumns, name)), terminal.In(m.style, bars), terminal.In(terminal.Bold, fmt.Sprintf("%*s", valueColumns, value))}
	}
	return rows
}

func (s *Screen) refusals() []row {
	var parts []string
	for _, r := range s.shown.Refusals {
		parts = append(parts, fmt.Sprintf("%s %d (%.1f/s)", terminal.Clean(r.Reason), r.Total, r.Rate))
	}
	if parts == nil {
		parts = []string{"none"}
	}
	return []row{{terminal.In(terminal.Red, fmt.Sprintf("%-*s", nameColumns, "refusals")), terminal.In("", strings.Join(parts, ", "))}}
}

// changes has the last changes of the limit, the newest first.
func (s *Screen) changes(rows int) []row {
	out := []row{{terminal.In(terminal.Dim, "changes of the limit")}}
	all := s.shown.Changes
	for i := len(all) - 1; i >= 0 && len(out) < rows; i-- {
		at := time.UnixMilli(all[i].At).Format(time.TimeOnly)
		out = append(out, row{terminal.In(terminal.Dim, at+"  "), terminal.In("", terminal.Clean(all[i].Text))})
	}
	return out
}
