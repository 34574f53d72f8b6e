package simulate

import (
	"fmt"
	"image/color"
	"io"
	"os"
	"path/filepath"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// PlotFormats are the endings of files that plots can be written to.
var PlotFormats = []string{".svg", ".png"}

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

// newPlot returns an empty plot in a sans-serif face.
func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	for style, size := range map[*text.Style]vg.Length{
		&p.Title.TextStyle: 11, &p.X.Label.TextStyle: 9, &p.Y.Label.TextStyle: 9,
		&p.X.Tick.Label: 8, &p.Y.Tick.Label: 8,
	} {
		style.Font.Variant, style.Font.Size = "Sans", size
	}
	p.Title.Padding = 4
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(roundTicks), plot.TickerFunc(roundTicks)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	return p
}

// A keyEntry says what a line or a mark stands for.
type keyEntry struct {
	name string
	mark plot.Thumbnailer
}

// keyLine is the height of an entry.
const keyLine vg.Length = 12

// writePlots writes a grid of plots, by rows, whose data areas are aligned, below the key.
func writePlots(file string, plots [][]*plot.Plot, key []keyEntry, width, height vg.Length) error {
	var canvas interface {
		vg.CanvasSizer
		io.WriterTo
	}
	switch extension := filepath.Ext(file); extension {
	case ".svg":
		canvas = vgsvg.New(width, height)
	case ".png":
		canvas = vgimg.PngCanvas{Canvas: vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(144))}
	default:
		return fmt.Errorf("a plot cannot be written as %q: want %v", extension, PlotFormats)
	}
	tiles := draw.Tiles{
		Rows: len(plots), Cols: len(plots[0]), PadX: 14, PadY: 8,
		PadTop: 8, PadBottom: 8, PadLeft: 8, PadRight: 14,
	}
	page := draw.New(canvas)
	above := vg.Length(len(key))*keyLine + 4
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font.Variant, legend.TextStyle.Font.Size = "Sans", 9
	legend.Padding, legend.ThumbnailWidth = 2, 24
	for _, entry := range key {
		legend.Add(entry.name, entry.mark)
	}
	legend.Draw(draw.Crop(page, 10, 0, page.Size().Y-above, -6))
	for row, canvases := range plot.Align(plots, tiles, draw.Crop(page, 0, 0, 0, -above)) {
		for col, c := range canvases {
			plots[row][col].Draw(c)
		}
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

// PlotSuite draws goodput against p99x, a small mark for each scenario and a large one for
// each law's mean and median.
func PlotSuite(file string, cells *Cells) error {
	p := newPlot("Goodput against p99: the best is at the top left", "p99 over the oracle's (log scale)", "goodput, % of the oracle's")
	p.X.Scale = plot.LogScale{}
	p.X.Tick.Marker = plot.TickerFunc(ratioTicks)
	var key []keyEntry
	shapes := []draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.BoxGlyph{},
		draw.PyramidGlyph{},
		draw.RingGlyph{},
		draw.SquareGlyph{},
		draw.TriangleGlyph{},
		draw.CrossGlyph{},
	}
	for i, summary := range cells.Summaries() {
		var points plotter.XYs
		for _, c := range cells.byLaw()[i] {
			points = append(points, plotter.XY{X: drawable(c.Mean.P99Ratio), Y: c.Mean.Goodput})
		}
		small, err := plotter.NewScatter(points)
		if err != nil {
			return err
		}
		large, err := plotter.NewScatter(plotter.XYs{{X: drawable(summary.P99Ratio), Y: summary.Goodput}})
		if err != nil {
			return err
		}
		r, g, b, _ := hue(i).RGBA()
		faint := color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 110}
		small.GlyphStyle = draw.GlyphStyle{Color: faint, Radius: 2.5, Shape: shapes[i%len(shapes)]}
		large.GlyphStyle = draw.GlyphStyle{Color: hue(i), Radius: 6, Shape: shapes[i%len(shapes)]}
		p.Add(small, large)
		label := *large
		label.Radius = 3.5
		key = append(key, keyEntry{fmt.Sprintf("%s: goodput %.1f%%, p99 %.2f times the oracle's", summary.Law, summary.Goodput, summary.P99Ratio), &label})
	}
	p.Y.Max = 102
	p.X.Min, p.X.Max = p.X.Min/1.1, p.X.Max*1.1
	return writePlots(file, [][]*plot.Plot{{p}}, key, 8*vg.Inch, 5.5*vg.Inch)
}

// drawable keeps a ratio on a logarithmic axis; it is 0 if nothing was answered.
func drawable(ratio float64) float64 { return max(ratio, 0.1) }
