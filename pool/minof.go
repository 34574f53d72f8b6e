package pool

import (
	"fmt"
	"slices"
)

// MinOf combines scalers of one resource: the size is the smallest of their sizes. All of them
// decide at the shortest of their periods.
type MinOf []Scaler

// Sizer implements [Scaler].
func (c MinOf) Sizer(limit int64) (Sizer, error) {
	if len(c) == 0 {
		return nil, fmt.Errorf("%w: MinOf is empty: want at least one scaler", ErrConfig)
	}
	all := make(minSizer, len(c))
	for i, scaler := range c {
		var err error
		if all[i], err = sizerOf(fmt.Sprintf("MinOf[%d]", i), scaler, limit); err != nil {
			return nil, err
		}
	}
	return all, nil
}

type minSizer []Sizer

// Plan implements [Sizer].
func (c minSizer) Plan() Plan {
	least := c[0].Plan()
	for _, s := range c[1:] {
		p := s.Plan()
		least = Plan{
			Initial: min(least.Initial, p.Initial),
			Min:     min(least.Min, p.Min),
			Max:     min(least.Max, p.Max),
			Period:  min(least.Period, p.Period),
		}
	}
	return least
}

// Next implements [Sizer].
func (c minSizer) Next(r Observation) (least int64, why Reason) {
	for i, s := range c {
		if size, reason := s.Next(r); i == 0 || size < least {
			least, why = size, reason
		}
	}
	return least, why
}

// lawsOf returns the sizers that measure every attempt.
func lawsOf(s Sizer) (all []*lawSizer) {
	switch s := s.(type) {
	case *lawSizer:
		return []*lawSizer{s}
	case minSizer:
		for _, each := range s {
			all = append(all, lawsOf(each)...)
		}
	}
	return slices.Clip(all)
}
