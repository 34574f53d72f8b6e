package demo

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/terminal"
	"github.com/weir-go/weir/internal/figures"
)

// The columns of a frame, without the columns of charts.
const (
	nameColumns   = 16 // on the left
	figureColumns = 14 // on the right
)

// The rows of a frame.
const (
	fixedRows   = 8  // all but the charts
	tallest     = 12 // of a chart: a taller one shows no more detail
	leastHeight = 2
)

// frame draws the run so far, in rows that fit the screen.
func frame(c course, past []second, columns, rows int) (out []row) {
	height, ofLimit := heights(rows)
	width := max(columns-nameColumns-figureColumns, 1)
	out = append(out,
		row{terminal.In(terminal.Bold, "weir demo"), terminal.In("", fmt.Sprintf(": three servers for %d requests a second, each asked for %.0f", capacity(), overload*float64(capacity())))},
		progress(c, past),
		nil,
		heads(width),
	)
	for lane, l := range lanes {
		values, total := make([]float64, len(past)), 0
		for i, s := range past {
			values[i] = float64(s.goodput[lane])
			total += s.goodput[lane]
		}
		now, mean := "-", "-"
		if n := len(past); n > 0 {
			now, mean = fmt.Sprint(past[n-1].goodput[lane]), fmt.Sprintf("%.1f", float64(total)/past[n-1].at.Seconds())
		}
		chart := columnsOf(c, values, float64(capacity())*1.1, width, height)
		out = append(out, labelled(l.name, l.style, chart, now, mean)...)
	}
	out = append(out, nil)
	out = append(out, limits(c, past, width, ofLimit)...)
	return append(out, latest(past)...)
}

// heights are the heights of a lane's chart and of the limit's chart.
func heights(rows int) (lane, limit int) {
	free := rows - fixedRows - 1 // none in the last row, which makes some terminals scroll
	lane = min(max((free+1)/4, leastHeight), tallest)
	return lane, min(max(free-3*lane, leastHeight), lane)
}

// progress shows the elapsed time.
func progress(c course, past []second) row {
	const width = 20
	at, phase := time.Duration(0), 0
	if len(past) > 0 {
		at, phase = past[len(past)-1].at, past[len(past)-1].phase
	}
	done := min(int(width*at/time.Duration(c)), width)
	r := terminal.Plain(fmt.Sprintf("%2.0f of %.0f s [%s%s]  ", min(at, time.Duration(c)).Seconds(), time.Duration(c).Seconds(),
		strings.Repeat("#", done), strings.Repeat(".", width-done)))
	switch {
	case phase >= len(phases):
		return append(r, terminal.In(terminal.Dim, "the load has ended, some clients still wait"))
	case phases[phase].percent < 100:
		return append(r, terminal.In(terminal.Yellow, fmt.Sprintf("all servers are slow: %d%% of their speed", phases[phase].percent)))
	}
	return append(r, terminal.In("", "all servers have their full speed"))
}

// heads names the phases above their parts of the charts.
func heads(width int) row {
	r := row{terminal.In(terminal.Dim, fmt.Sprintf("%-*s", nameColumns, "in time, 1/s"))}
	for i, p := range phases {
		from, to := i*width/len(phases), (i+1)*width/len(phases)
		r = append(r, terminal.In(terminal.Dim, fmt.Sprintf("%-*s", to-from, "|"+p.name)))
	}
	return append(r, terminal.In(terminal.Dim, fmt.Sprintf("%*s%*s", figureColumns/2, "now", figureColumns/2, "mean")))
}

// labelled puts a name before the rows of a chart, and figures after the last.
func labelled(name, style string, chart []string, figures ...string) (rows []row) {
	for i, line := range chart {
		r := row{terminal.In("", strings.Repeat(" ", nameColumns)), terminal.In(style, line)}
		if i == 0 {
			r[0] = terminal.In(terminal.Bold, fmt.Sprintf("%-*s", nameColumns, name))
		}
		if i == len(chart)-1 {
			for _, f := range figures {
				r = append(r, terminal.In("", fmt.Sprintf("%*s", figureColumns/2, f)))
			}
		}
		rows = append(rows, r)
	}
	return rows
}

// limits is the chart of the adaptive limit, up to its maximum so far.
func limits(c course, past []second, width, height int) []row {
	values, highest, now := make([]float64, len(past)), 10.0, "-"
	for i, s := range past {
		values[i] = float64(s.adaptive.Limit)
		highest, now = max(highest, values[i]), fmt.Sprint(s.adaptive.Limit)
	}
	return labelled("adaptive limit", terminal.Cyan, columnsOf(c, values, highest, width, height), now)
}

// latest returns the figures of the adaptive lane in the last second.
func latest(past []second) []row {
	var line figures.Line
	if len(past) > 0 {
		line = past[len(past)-1].adaptive
	}
	return []row{
		terminal.Plain(fmt.Sprintf("adaptive: %d in flight, %d queued, p95 %s, %.0f admitted/s, %.0f refused/s",
			line.InFlight, line.Queued, figures.Latency(line.P95), line.Admitted, line.Refused)),
		{terminal.In(terminal.Dim, "last change: "+line.Change)},
		{terminal.In(terminal.Dim, "Ctrl-C ends it early. A table of all follows.")},
	}
}

// columnsOf draws a value a second over the whole course, from top to bottom.
func columnsOf(c course, values []float64, most float64, width, height int) []string {
	seconds := max(int(time.Duration(c)/time.Second), 1)
	columns := make([]float64, width)
	for column := range columns {
		columns[column] = math.NaN()
		if i := column * seconds / width; i < len(values) {
			columns[column] = values[i]
		}
	}
	return terminal.Bars(columns, most, height)
}
