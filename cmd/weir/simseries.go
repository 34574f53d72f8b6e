package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
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

var momentColumns = []string{
	"scenario", "law", "seed", "at_s", "limit", "in_flight", "queued", "p95_s", "p99_s",
	"arrived", "admitted", "refused", "throughput", "good",
}

func (m moment) record() []string {
	record := []string{
		m.Scenario, m.Law, strconv.FormatUint(m.Seed, 10), exact(m.At),
		strconv.Itoa(m.Limit), strconv.Itoa(m.InFlight), strconv.Itoa(m.Queued),
	}
	for _, v := range []float64{m.P95, m.P99, m.Arrived, m.Admitted, m.Refused, m.Throughput, m.Good} {
		record = append(record, exact(v))
	}
	return record
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
	out    io.Writer
	form   form
	csv    *csv.Writer
	headed bool
}

func newSeries(out io.Writer, form form) *series {
	return &series{out: out, form: form, csv: csv.NewWriter(out)}
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
	switch r.form {
	case asJSON:
		for _, m := range list {
			if err := json.NewEncoder(r.out).Encode(m); err != nil {
				return err
			}
		}
	case asCSV:
		if !r.headed {
			_ = r.csv.Write(momentColumns) // Error reports it
		}
		for _, m := range list {
			_ = r.csv.Write(m.record())
		}
		r.csv.Flush()
		r.headed = true
		return r.csv.Error()
	case asTable:
		return r.table(list)
	}
	return nil
}

func (r *series) table(list []moment) error {
	if len(list) == 0 {
		return nil
	}
	if r.headed {
		fmt.Fprintln(r.out)
	}
	r.headed = true
	fmt.Fprintf(r.out, "%s, %s, seed %d\n", list[0].Scenario, list[0].Law, list[0].Seed)
	t := table{}
	t.row("time s", "limit", "in flight", "queued", "p95 ms", "admitted/s", "refused/s")
	for _, m := range list {
		t.row(exact(m.At), strconv.Itoa(m.Limit), strconv.Itoa(m.InFlight), strconv.Itoa(m.Queued),
			tenths(1000*m.P95), whole(m.Admitted), whole(m.Refused))
	}
	return t.write(r.out)
}

func (r *series) end() error { return nil }
