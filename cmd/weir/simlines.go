package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"

	"github.com/weir-go/weir/sim"
)

type form int

const (
	asTable form = iota
	asJSON
	asCSV
)

// A linePrinter prints lines of JSON, or of CSV below one header.
type linePrinter struct {
	out    io.Writer
	form   form
	headed bool
}

func printLines[T any](p *linePrinter, list []T) error {
	if p.form == asJSON {
		for _, line := range list {
			if err := json.NewEncoder(p.out).Encode(line); err != nil {
				return err
			}
		}
		return nil
	}
	out := csv.NewWriter(p.out)
	if !p.headed {
		p.headed = true
		_ = out.Write(fieldNames(reflect.TypeFor[T]())) // Error reports it
	}
	for _, line := range list {
		_ = out.Write(fieldValues(reflect.ValueOf(line)))
	}
	out.Flush()
	return out.Error()
}

// csvFields returns the fields of a line with their names in JSON, without fields that only
// JSON can have.
func csvFields(t reflect.Type) (fields []reflect.StructField) {
	for _, f := range reflect.VisibleFields(t) {
		if f.Tag.Get("json") != "" && f.Type.Kind() != reflect.Pointer {
			fields = append(fields, f)
		}
	}
	return fields
}

func fieldNames(t reflect.Type) (names []string) {
	for _, f := range csvFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}

func fieldValues(line reflect.Value) (values []string) {
	for _, f := range csvFields(line.Type()) {
		v := line.FieldByIndex(f.Index)
		switch {
		case v.CanFloat() && math.IsNaN(v.Float()):
			values = append(values, "")
		case v.CanFloat():
			values = append(values, exact(v.Float()))
		case v.Kind() == reflect.Slice:
			values = append(values, strings.Trim(fmt.Sprint(v), "[]"))
		default:
			values = append(values, fmt.Sprint(v))
		}
	}
	return values
}

// A csvScore is a score with the comparison in columns. Figures that it does not have are NaN.
type csvScore struct {
	sim.Score

	Good      []int `json:"phase_good"`
	Unlimited []int `json:"phase_good_unlimited"`
	Twenty    []int `json:"phase_good_fixed20"`
}

func csvScores(scores []sim.Score) (lines []csvScore) {
	for _, s := range scores {
		line := csvScore{Score: s}
		if s.Starts == 0 {
			line.StartGoodput = math.NaN()
		}
		if s.Jain == 0 {
			line.Jain = math.NaN()
		}
		if s.Harm != nil {
			line.Good = s.Harm.Good
			for _, of := range s.Harm.Possible {
				line.Unlimited = append(line.Unlimited, of.Unlimited)
				line.Twenty = append(line.Twenty, of.Twenty)
			}
		}
		lines = append(lines, line)
	}
	return lines
}
