package simulate

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

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
