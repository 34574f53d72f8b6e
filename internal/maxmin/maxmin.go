package maxmin

import (
	"cmp"
	"math"
	"slices"
)

// Split returns the parts of a total as whole numbers: at least 1 for each need above 0, and 0 for
// each need of 0.
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
	parts, _ := fill(total, needs, slices.Repeat([]float64{1}, len(needs)))
	all := 0.0
	for _, need := range needs {
		all += need
	}
	if all <= total {
		for i, need := range needs {
			parts[i] = need / max(all, math.SmallestNonzeroFloat64) * total
		}
	}
	return parts
}

// fill meets as many needs as possible. The other needs get parts in proportion to their weights.
// fill returns the rest of the total as well.
func fill(total float64, needs, weights []float64) (parts []float64, rest float64) {
	order, weight := make([]int, len(needs)), 0.0 // needs that are met first come first
	for i := range order {
		order[i] = i
		weight += weights[i]
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(needs[a]*weights[b], needs[b]*weights[a]) })
	parts = make([]float64, len(needs))
	for _, i := range order {
		if weight > 0 {
			parts[i] = min(needs[i], total*weights[i]/weight)
		}
		total -= parts[i]
		weight -= weights[i]
	}
	return parts, total
}

// Shares splits a total by weighted max-min fairness into whole numbers with exactly that sum. It
// meets as many needs as possible. The other needs get parts in proportion to their weights, and
// the excess over all needs is divided by weight. Needs and weights are not negative. If all
// weights are 0, all parts are 0.
func Shares(total int, needs []int, weights []float64) []int {
	wanted, all := make([]float64, len(needs)), 0.0
	for i, need := range needs {
		wanted[i] = float64(need)
		all += weights[i]
	}
	shares := make([]int, len(needs))
	if all == 0 {
		return shares
	}
	parts, rest := fill(float64(total), wanted, weights)
	for i := range parts {
		parts[i] += max(0, rest) * weights[i] / all
	}
	return whole(total, parts, shares)
}

// whole rounds parts to whole numbers by largest remainder, so that they have the sum total.
func whole(total int, parts []float64, into []int) []int {
	order := make([]int, len(parts))
	for i, part := range parts {
		parts[i] = math.Round(part*1e9) / 1e9 // 2.9999999999 is 3, and equal parts tie
		into[i] = min(int(parts[i]), total)
		total -= into[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(parts[b]-float64(into[b]), parts[a]-float64(into[a]))
	})
	for _, i := range order[:min(total, len(order))] {
		into[i]++
	}
	return into
}
