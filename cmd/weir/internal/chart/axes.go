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

// x returns the position of a value on the page.
func (a area) x(v float64) float64 {
	if a.Logarithmic {
		return a.left + a.width*math.Log(v/a.XMin)/math.Log(a.XMax/a.XMin)
	}
	return a.left + a.width*(v-a.XMin)/(a.XMax-a.XMin)
}

// y returns the position of a value on the page, counted from the top.
func (a area) y(v float64) float64 { return a.bottom() - a.height*(v-a.YMin)/(a.YMax-a.YMin) }

// ticksX returns the values of the ticks on the X axis.
func (a area) ticksX() []float64 {
	if a.Logarithmic {
		return ratioTicks(a.XMin, a.XMax)
	}
	return roundTicks(a.XMin, a.XMax, int(a.width/80))
}

func (a area) ticksY() []float64 { return roundTicks(a.YMin, a.YMax, int(a.height/22)) }

// roundTicks returns round numbers from low to high, about as many as wanted.
func roundTicks(low, high float64, wanted int) (ticks []float64) {
	rough := (high - low) / float64(max(wanted, 2))
	step := math.Pow(10, math.Ceil(math.Log10(rough)))
	for _, part := range []float64{5, 2} {
		if step/part >= rough {
			step /= part
			break
		}
	}
	for i := math.Ceil(low / step); i*step <= high; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

// ratioTicks returns round numbers for a logarithmic axis, fewer for a long one.
func ratioTicks(low, high float64) (ticks []float64) {
	steps := []float64{1, 1.2, 1.5, 2, 3, 4, 5, 6, 7, 8, 9}
	if high > 20*low {
		steps = []float64{1, 2, 3, 5}
	}
	for decade := math.Pow(10, math.Floor(math.Log10(low))); decade <= high; decade *= 10 {
		for _, step := range steps {
			if v := step * decade; v >= low && v <= high {
				ticks = append(ticks, v)
			}
		}
	}
	return ticks
}

// label writes the value of a tick.
func label(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
