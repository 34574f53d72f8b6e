package main

import (
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/weir-go/weir/internal/chart"
)

// hues tell laws apart, also for the colour-blind (Okabe and Ito).
var hues = []color.Color{
	color.NRGBA{0, 114, 178, 255},
	color.NRGBA{213, 94, 0, 255},
	color.NRGBA{0, 158, 115, 255},
	color.NRGBA{204, 121, 167, 255},
	color.NRGBA{230, 159, 0, 255},
	color.NRGBA{86, 180, 233, 255},
	color.NRGBA{90, 90, 90, 255},
}

func hue(i int) color.Color { return hues[i%len(hues)] }

var shapes = []draw.GlyphDrawer{
	draw.CircleGlyph{},
	draw.BoxGlyph{},
	draw.PyramidGlyph{},
	draw.RingGlyph{},
	draw.SquareGlyph{},
	draw.TriangleGlyph{},
	draw.CrossGlyph{},
}

func shape(i int) draw.GlyphDrawer { return shapes[i%len(shapes)] }

// axes returns a plot with nothing but a grid in it, in a sans-serif face.
func axes(from chart.Plot) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = from.Title, from.X, from.Y
	for style, size := range map[*text.Style]vg.Length{
		&p.Title.TextStyle: 11, &p.X.Label.TextStyle: 9, &p.Y.Label.TextStyle: 9,
		&p.X.Tick.Label: 8, &p.Y.Tick.Label: 8,
	} {
		style.Font.Variant, style.Font.Size = "Sans", size
	}
	p.Title.Padding = 4
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	if from.Logarithmic {
		p.X.Scale, p.X.Tick.Marker = plot.LogScale{}, plot.TickerFunc(ratioTicks)
	}
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	return p
}

// roundTicks marks four to eight round numbers.
func roundTicks(low, high float64) (ticks []plot.Tick) {
	rough := (high - low) / 7
	step := math.Pow(10, math.Ceil(math.Log10(rough)))
	for _, part := range []float64{5, 2} {
		if step/part >= rough {
			step /= part
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, tick(i*step))
	}
	return ticks
}

// ratioTicks marks round numbers on a logarithmic axis, fewer where it is long.
func ratioTicks(low, high float64) (ticks []plot.Tick) {
	steps := []float64{1, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}
	if high > 20*low {
		steps = []float64{1, 2, 3, 5}
	}
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
		for _, step := range steps {
			if v := step * decade; v >= low && v <= high {
				ticks = append(ticks, tick(v))
			}
		}
	}
	return ticks
}

func tick(v float64) plot.Tick {
	return plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)}
}
