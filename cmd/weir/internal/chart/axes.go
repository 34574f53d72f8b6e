package chart

import (
	"math"
	"strconv"
)

// An area is the position of a plot's data on the page.
type area struct {
	Plot

	left, top, width, height float64 // in pixels
}

func (a area) right() float64  { return a.left + a.width }
func (a area) bottom() float64 { return a.top + a.height }

func (a area) x(v float64) float64 {
	return a.left + a.width*v/a.XMax
}

// y returns the position of a value on the page, counted from the top.
func (a area) y(v float64) float64 { return a.bottom() - a.height*v/a.YMax }

// roundTicks returns round numbers from 0 to high, about the wanted number of them.
func roundTicks(high float64, wanted int) (ticks []float64) {
	rough := high / float64(max(wanted, 2))
	step := math.Pow(10, math.Ceil(math.Log10(rough)))
	for _, part := range []float64{5, 2} {
		if step/part >= rough {
			step /= part
			break
		}
	}
	for i := 0.0; i*step <= high; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

func label(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
