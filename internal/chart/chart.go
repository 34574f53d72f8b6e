package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Formats are the endings of files that a chart can be drawn to.
var Formats = []string{".svg", ".png"}

// A Chart is a grid of plots under one key.
type Chart struct {
	Width, Height float64  // in inches
	Rows          [][]Plot // all of one length; the data areas are aligned
}

// A Plot is one pair of axes with what stands in it.
type Plot struct {
	Title, X, Y string // texts above and beside the axes
	Logarithmic bool   // of the X axis
	XMin, XMax  float64
	YMin, YMax  float64
	Lines       []Line
	Clouds      []Cloud
	Phases      []Phase
}

// A Line joins its points. Lines of one name share an entry in the key.
type Line struct {
	Name   string
	Colour int  // counts the colours that tell laws apart
	Guide  bool // dashed and black in place of the colour: what the others are compared with
	Points []Point
}

// A Cloud is a small mark for each point, and a large one for what they come to.
type Cloud struct {
	Name   string
	Colour int // counts colours and shapes of marks
	Points []Point
	Centre Point
}

// A Point is a place on the axes.
type Point struct{ X, Y float64 }

// A Phase is a stretch of the X axis, from top to bottom.
type Phase struct {
	Name     string
	From, To float64
	Shaded   bool
}

// Write writes the chart as JSON.
func (c *Chart) Write(w io.Writer) error { return json.NewEncoder(w).Encode(c) }

// Read reads what Write wrote. It refuses fields that it does not know, as a newer weir may
// write them, and charts that cannot be drawn.
func Read(r io.Reader) (*Chart, error) {
	in := json.NewDecoder(r)
	in.DisallowUnknownFields()
	c := new(Chart)
	if err := in.Decode(c); err != nil {
		return nil, fmt.Errorf("chart: %w: want what weir of the same version writes", err)
	}
	return c, c.check()
}

func (c *Chart) check() error {
	if c.Width <= 0 || c.Height <= 0 {
		return fmt.Errorf("chart: size is %v by %v: want more than 0 inches", c.Width, c.Height)
	}
	if len(c.Rows) == 0 || len(c.Rows[0]) == 0 {
		return errors.New("chart: no plots: want one at least")
	}
	for i, row := range c.Rows {
		if len(row) != len(c.Rows[0]) {
			return fmt.Errorf("chart: row %d has %d plots: want %d, as the first has", i+1, len(row), len(c.Rows[0]))
		}
		for j, p := range row {
			if p.Logarithmic && p.leftmost() <= 0 {
				return fmt.Errorf("chart: plot %d of row %d has an X of %v: want more than 0 on a logarithmic axis", j+1, i+1, p.leftmost())
			}
		}
	}
	return nil
}

// leftmost is the least X in the plot.
func (p *Plot) leftmost() float64 {
	least := p.XMin
	for _, l := range p.Lines {
		for _, at := range l.Points {
			least = min(least, at.X)
		}
	}
	for _, c := range p.Clouds {
		for _, at := range append(c.Points, c.Centre) {
			least = min(least, at.X)
		}
	}
	for _, phase := range p.Phases {
		least = min(least, phase.From)
	}
	return least
}
