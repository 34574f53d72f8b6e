package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/sim"
)

// A reporter prints outcomes: lines at once, a table at the end.
type reporter interface {
	add(o simulate.Outcome) error
	end() error
}

type scores struct {
	out     io.Writer
	json    bool
	parts   parts
	regimes bool // sums up each regime too
	has     features
	cells   simulate.Cells
}

type parts int

const (
	noSummary parts = iota
	withSummary
	summaryOnly
)

func (r *scores) add(o simulate.Outcome) error {
	r.cells.Add(o)
	if o.Job.Scenario.Limiter.Queue != (sim.Queue{}) {
		r.has |= queued
	}
	for _, s := range o.Scores {
		if s.Harm != nil {
			r.has |= harmed
		}
		if s.Jain > 0 {
			r.has |= shared
		}
		if s.Pushed > 0 {
			r.has |= pushed
		}
	}
	if r.parts == summaryOnly || !r.json {
		return nil
	}
	return printLines(r.out, o.Scores)
}

func (r *scores) end() error {
	switch {
	case r.parts == summaryOnly:
		return r.sumUp()
	case r.json:
		return nil
	}
	err := tableOf(cellColumns, 2, 0, r.has, r.cells).write(r.out)
	if err != nil || r.parts == noSummary {
		return err
	}
	fmt.Fprintln(r.out)
	return r.sumUp()
}

// sumUp prints a line for each law, and then for each regime and law.
func (r *scores) sumUp() error {
	summaries := r.cells.Summaries()
	var regimes []summary
	if r.regimes {
		regimes = r.cells.Regimes()
	}
	if r.json {
		return printLines(r.out, append(summaries, regimes...))
	}
	if err := tableOf(summaryColumns, 1, byLaw, r.has, summaries).write(r.out); err != nil || regimes == nil {
		return err
	}
	fmt.Fprintln(r.out)
	return tableOf(summaryColumns, 2, byRegime, r.has, regimes).write(r.out)
}

func printLines[T any](out io.Writer, list []T) error {
	for _, line := range list {
		if err := json.NewEncoder(out).Encode(line); err != nil {
			return err
		}
	}
	return nil
}
