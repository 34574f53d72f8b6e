package chart

// A Chart is a grid of plots under one key. All plots have the same size.
type Chart struct {
	Title  string   // for screen readers
	Width  float64  // of the data area of each plot, in pixels
	Height float64  // of the data area of each plot, in pixels
	Rows   [][]Plot // all of one length; the data areas are aligned
}

// A Plot is a pair of axes with its data. Data outside of the axes is cut off.
type Plot struct {
	Title, X, Y string  // texts above, below and beside the axes
	XMax, YMax  float64 // from 0
	Lines       []Line
	Phases      []Phase
}

// A Line connects its points. Lines with the same name share an entry in the key.
type Line struct {
	Name   string
	Colour int    // index of a law's colour
	Dashes Dashes // for reference lines, which have no colour
	Points []Point
}

// Dashes are the strokes of a line.
type Dashes string

// These strokes have the form of SVG. The zero Dashes is a solid line in the colour of its law.
const (
	Dashed Dashes = "6 4"
	Dotted Dashes = "2 3"
)

// A Point is a place on the axes.
type Point struct{ X, Y float64 }

// A Phase is a stretch of the X axis, from top to bottom.
type Phase struct {
	Name     string
	From, To float64
	Shaded   bool
}
