package main

import (
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/weir-go/weir/internal/chart"
)

// write draws the chart to a file: a grid of plots below the key.
func write(file string, c *chart.Chart) error {
	width, height := vg.Length(c.Width)*vg.Inch, vg.Length(c.Height)*vg.Inch
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch filepath.Ext(file) {
	case ".svg":
		canvas = vgsvg.New(width, height)
	case ".png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	default:
		return fmt.Errorf("%q: want a file that ends in one of %v", file, chart.Formats)
	}
	page := draw.New(canvas)
	if err := drawChart(page, c); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if _, err := canvas.WriteTo(out); err != nil {
		out.Close()
		return err
	}
	return out.Close()
}

func drawChart(page draw.Canvas, c *chart.Chart) error {
	plots := make([][]*plot.Plot, len(c.Rows))
	var k key
	for row := range c.Rows {
		for _, from := range c.Rows[row] {
			p, err := k.plot(from)
			if err != nil {
				return err
			}
			plots[row] = append(plots[row], p)
		}
	}
	above := k.draw(page)
	tiles := draw.Tiles{
		Rows: len(plots), Cols: len(plots[0]), PadX: 14, PadY: 8,
		PadTop: 8, PadBottom: 8, PadLeft: 8, PadRight: 14,
	}
	for row, canvases := range plot.Align(plots, tiles, draw.Crop(page, 0, 0, 0, -above)) {
		for col, canvas := range canvases {
			plots[row][col].Draw(canvas)
		}
	}
	return nil
}

// A key says what the lines and marks of a chart stand for.
type key struct{ entries []entry }

type entry struct {
	name string
	mark plot.Thumbnailer
}

// entryHeight is the height of a line of the key.
const entryHeight vg.Length = 12

func (k *key) add(name string, mark plot.Thumbnailer) {
	if !slices.ContainsFunc(k.entries, func(had entry) bool { return had.name == name }) {
		k.entries = append(k.entries, entry{name, mark})
	}
}

// draw draws the key at the top of the page and returns the height that it takes.
func (k *key) draw(page draw.Canvas) (above vg.Length) {
	above = vg.Length(len(k.entries))*entryHeight + 4
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font.Variant, legend.TextStyle.Font.Size = "Sans", 9
	legend.Padding, legend.ThumbnailWidth = 2, 24
	for _, e := range k.entries {
		legend.Add(e.name, e.mark)
	}
	legend.Draw(draw.Crop(page, 10, 0, page.Size().Y-above, -6))
	return above
}

// plot makes a plot and adds its lines and marks to the key.
func (k *key) plot(from chart.Plot) (*plot.Plot, error) {
	p := axes(from)
	if err := shade(p, from); err != nil {
		return nil, err
	}
	for _, from := range from.Lines {
		line, err := plotter.NewLine(points(from.Points))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from.Name, err)
		}
		line.Color, line.Width = hue(from.Colour), 1.2
		if from.Guide {
			line.Color, line.Dashes, line.Width = color.Black, []vg.Length{5, 3}, 1
		}
		p.Add(line)
		k.add(from.Name, line)
	}
	for _, from := range from.Clouds {
		mark, err := cloud(p, from)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from.Name, err)
		}
		k.add(from.Name, mark)
	}
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = from.XMin, from.XMax, from.YMin, from.YMax // Add widens them
	return p, nil
}

// cloud adds the marks of a cloud and returns that of the key.
func cloud(p *plot.Plot, from chart.Cloud) (plot.Thumbnailer, error) {
	small, err := plotter.NewScatter(points(from.Points))
	if err != nil {
		return nil, err
	}
	large, err := plotter.NewScatter(points([]chart.Point{from.Centre}))
	if err != nil {
		return nil, err
	}
	r, g, b, _ := hue(from.Colour).RGBA()
	faint := color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 110}
	small.GlyphStyle = draw.GlyphStyle{Color: faint, Radius: 2.5, Shape: shape(from.Colour)}
	large.GlyphStyle = draw.GlyphStyle{Color: hue(from.Colour), Radius: 6, Shape: shape(from.Colour)}
	p.Add(small, large)
	label := *large
	label.Radius = 3.5
	return &label, nil
}

// shade sets phases apart, and names them at the top.
func shade(p *plot.Plot, from chart.Plot) error {
	if len(from.Phases) == 0 {
		return nil
	}
	top := from.YMax
	var names plotter.XYLabels
	for _, phase := range from.Phases {
		if phase.Shaded {
			area, err := plotter.NewPolygon(plotter.XYs{{X: phase.From}, {X: phase.To}, {X: phase.To, Y: top}, {X: phase.From, Y: top}})
			if err != nil {
				return err
			}
			area.Color, area.Width = color.NRGBA{120, 120, 120, 40}, 0
			p.Add(area)
		}
		names.XYs = append(names.XYs, plotter.XY{X: phase.From, Y: top})
		names.Labels = append(names.Labels, phase.Name)
	}
	labels, err := plotter.NewLabels(names)
	if err != nil {
		return err
	}
	for i := range labels.TextStyle {
		style := &labels.TextStyle[i]
		style.Font.Variant, style.Font.Size = "Sans", 8
		style.Color, style.YAlign = color.Gray{90}, draw.YTop
	}
	labels.Offset = vg.Point{X: 3, Y: -2}
	p.Add(labels)
	return nil
}

func points(from []chart.Point) plotter.XYs {
	to := make(plotter.XYs, len(from))
	for i, at := range from {
		to[i] = plotter.XY(at)
	}
	return to
}
