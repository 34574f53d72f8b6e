package main

import (
	"fmt"
	"io"
	"time"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/sim"
)

// A moment is a line of JSON about one point in time. Rates are per second.
type moment struct {
	Scenario   string  `json:"scenario"`
	Law        string  `json:"law"`
	Seed       uint64  `json:"seed"`
	At         float64 `json:"at_s"`
	Limit      int     `json:"limit"`
	InFlight   int     `json:"in_flight"`
	Queued     int     `json:"queued"`
	P95        float64 `json:"p95_s"`
	P99        float64 `json:"p99_s"`
	Arrived    float64 `json:"arrived"`
	Admitted   float64 `json:"admitted"`
	Refused    float64 `json:"refused"`
	Throughput float64 `json:"throughput"`
	Good       float64 `json:"good"`
}

// moments returns the series of a result. Arrivals that are neither refused nor waiting count
// as admitted.
func moments(r *sim.Result, every time.Duration) []moment {
	list := make([]moment, len(r.Series))
	queued := 0
	for i, p := range r.Series {
		waiting := float64(p.Queued-queued) / every.Seconds()
		queued = p.Queued
		list[i] = moment{
			Scenario: r.Scenario, Law: r.Law, Seed: r.Seed, At: p.At.Seconds(),
			Limit: p.Limit, InFlight: p.InFlight, Queued: p.Queued, P95: p.P95.Seconds(), P99: p.P99.Seconds(),
			Arrived: p.Arrived, Admitted: max(0, p.Arrived-p.Refused-waiting), Refused: p.Refused,
			Throughput: p.Throughput, Good: p.Good,
		}
	}
	return list
}

// series reports figures over time.
type series struct {
	out   io.Writer
	json  bool
	begun bool
}

func (r *series) add(o simulate.Outcome) error {
	for _, result := range o.Results {
		if err := r.result(moments(result, o.Job.Scenario.Sample)); err != nil {
			return err
		}
	}
	return nil
}

func (r *series) result(list []moment) error {
	switch {
	case r.json:
		return printLines(r.out, list)
	case len(list) == 0:
		return nil
	case r.begun:
		fmt.Fprintln(r.out)
	}
	r.begun = true
	fmt.Fprintf(r.out, "%s, %s, seed %d\n", list[0].Scenario, list[0].Law, list[0].Seed)
	return tableOf(momentColumns, 0, 0, 0, list).write(r.out)
}

func (r *series) end() error { return nil }
