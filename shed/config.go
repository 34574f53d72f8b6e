package shed

import (
	"fmt"
	"math"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/settings"
)

// Config configures [New]. The zero Config works.
type Config struct {
	// Name is the [weir.RefusedError].Limiter in refusals. Defaults to "load".
	Name string

	// Low, Normal and High are the loads at which work of the priority is shed. The zero Mark
	// means the default: 1 to 1.2, 1.2 to 1.5 and 1.5 to 2. Critical work is never shed. From
	// must not be below that of the next lower priority.
	Low, Normal, High Mark
}

// A Mark is the load from which some of the work is refused, and the load from which all is.
type Mark struct {
	From, To float64 // From is above 0; To is at least From; both are finite
}

// defaults leave each priority alone until the next lower one is gone.
var defaults = [...]Mark{{1, 1.2}, {1.2, 1.5}, {1.5, 2}}

// ranges returns the ranges of low, normal and high.
func (c Config) ranges() (ranges [3]Mark, err error) {
	names := [...]string{"Low", "Normal", "High"}
	ranges = [...]Mark{c.Low, c.Normal, c.High}
	below := 0.0
	for i, r := range ranges {
		if r == (Mark{}) {
			r = defaults[i]
		}
		if !(r.From > 0 && r.To >= r.From && !math.IsInf(r.To, 1)) {
			return ranges, settings.Invalid(weir.ErrConfig, "shed: "+names[i], fmt.Sprintf("%v to %v", r.From, r.To),
				"zero (the default), or a From above 0 and a finite To that is at least From")
		}
		if r.From < below {
			return ranges, settings.Invalid(weir.ErrConfig, "shed: "+names[i]+".From", r.From,
				fmt.Sprintf("at least %v, that of %s: the less important goes first", below, names[i-1]))
		}
		ranges[i], below = r, r.From
	}
	return ranges, nil
}

func (r Mark) share(load float64) float64 {
	switch {
	case load < r.From:
		return 0
	case load >= r.To:
		return 1
	}
	return (load - r.From) / (r.To - r.From)
}
