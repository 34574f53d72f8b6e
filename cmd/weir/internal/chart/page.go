package chart

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strconv"
)

// These sizes lay out the page, in pixels.
const (
	margin     = 14 // around the page
	axisWidth  = 58 // left of a data area: its labels, and the text beside them
	axisHeight = 20 // below a data area: its labels
	textHeight = 16 // of a title, or of an entry of the key
	gap        = 12 // between two plots
)

// style is the style sheet for light and dark pages. The colours of laws are readable on
// both.
const style = `<style>
.page{fill:#fff}
text{fill:#1f2328}
.faint{fill:#656d76}
.grid{stroke:#e4e7ea}
.frame{fill:none;stroke:#8c959f}
.shade{fill:#8c959f;fill-opacity:.18}
.guide{stroke:#1f2328}
@media (prefers-color-scheme:dark){
.page{fill:#0d1117}
text{fill:#e6edf3}
.faint{fill:#9198a1}
.grid{stroke:#262c36}
.frame{stroke:#6e7681}
.guide{stroke:#e6edf3}
}
</style>
`

type page struct {
	bytes.Buffer

	clips int // number of data areas
}

func (p *page) printf(format string, args ...any) { fmt.Fprintf(p, format, args...) }

// WriteTo writes the chart as SVG.
func (c *Chart) WriteTo(w io.Writer) (int64, error) {
	var plots page
	top := float64(margin)
	for _, entry := range c.key() {
		plots.entry(entry, margin, top)
		top += textHeight
	}
	for i, row := range c.Rows {
		if i > 0 {
			top += gap
		}
		above, below := around(row)
		for column, plot := range row {
			left := margin + axisWidth + float64(column)*(c.Width+axisWidth+gap)
			plots.plot(area{plot, left, top + above, c.Width, c.Height})
		}
		top += above + c.Height + below
	}
	columns := float64(len(c.Rows[0]))
	width, height := px(2*margin+columns*(axisWidth+c.Width)+(columns-1)*gap), px(top+margin)

	var p page
	p.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%[1]s" height="%[2]s" font-family="sans-serif" font-size="11" role="img">`+"\n",
		width, height)
	p.printf("<title>%s</title>\n%s", html.EscapeString(c.Title), style)
	p.printf(`<rect class="page" width="%s" height="%s"/>`+"\n", width, height)
	p.printf("%s</svg>\n", &plots)
	return p.WriteTo(w)
}

// around returns the space that a row needs above and below its data areas.
func around(row []Plot) (above, below float64) {
	above, below = gap, axisHeight
	for _, plot := range row {
		if plot.Title != "" {
			above = gap + textHeight
		}
		if plot.X != "" {
			below = axisHeight + textHeight
		}
	}
	return above, below
}

// key lists the lines of the chart, each name once.
func (c *Chart) key() (entries []Line) {
	for _, row := range c.Rows {
		for _, plot := range row {
			for _, line := range plot.Lines {
				if !slices.ContainsFunc(entries, func(had Line) bool { return had.Name == line.Name }) {
					entries = append(entries, line)
				}
			}
		}
	}
	return entries
}

func (p *page) entry(line Line, x, y float64) {
	y += textHeight / 2
	p.stroke(line, Point{x, y}, Point{x + 24, y})
	p.printf(`<text x="%s" y="%s">%s</text>`+"\n", px(x+32), px(y+4), html.EscapeString(line.Name))
}

// px writes a length to a tenth of a pixel.
func px(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
