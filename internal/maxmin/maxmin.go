package maxmin

import (
	"cmp"
	"math"
	"slices"
)

// Split returns the parts of a total as whole numbers: at least 1 for each need above 0, and 0
// for the others.
func Split(total int, needs []float64) []int {
	fair := fairParts(float64(total), needs)
	split := make([]int, len(fair))
	type rest struct {
		index int
		part  float64
	}
	var rests []rest
	for i, part := range fair {
		if needs[i] == 0 {
			continue
		}
		split[i] = max(1, int(part))
		total -= split[i]
		rests = append(rests, rest{i, part - float64(split[i])})
	}
	slices.SortStableFunc(rests, func(a, b rest) int { return cmp.Compare(b.part, a.part) })
	for i := range min(max(0, total), len(rests)) {
		split[rests[i].index]++
	}
	return split
}

// fairParts returns the exact parts. If the total exceeds all needs, the excess is divided in
// proportion.
func fairParts(total float64, needs []float64) []float64 {
	parts, all := make([]float64, len(needs)), 0.0
	for _, need := range needs {
		all += need
	}
	if all <= total {
		for i, need := range needs {
			parts[i] = need / max(all, math.SmallestNonzeroFloat64) * total
		}
		return parts
	}
	order := make([]int, len(needs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(needs[a], needs[b]) })
	for place, i := range order {
		parts[i] = min(needs[i], total/float64(len(order)-place))
		total -= parts[i]
	}
	return parts
}
