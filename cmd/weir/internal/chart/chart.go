package chart

// A Chart is a grid of plots under one key. Plots of a column have the width of the first in it.
type Chart struct {
	Title  string   // for readers who hear the page
	Width  float64  // of the data area of each plot, in pixels
	Height float64  // of the same
	Rows   [][]Plot // all of one length; the data areas are aligned
}

// A Plot is one pair of axes with what stands in it. What is outside of the axes is cut off.
type Plot struct {
	Title, X, Y string // texts above, below and beside the axes
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
	Colour int    // counts the colours that tell laws apart
	Dashes Dashes // of a line that others are compared with, which has no colour
	Points []Point
}

// Dashes are the strokes of a line.
type Dashes string

// The strokes, as SVG has them. The zero Dashes is a line in its colour.
const (
	Dashed Dashes = "6 4"
	Dotted Dashes = "2 3"
)

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
