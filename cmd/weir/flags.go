package main

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weir-go/weir/cmd/weir/internal/events"
	"github.com/weir-go/weir/law"
	"github.com/weir-go/weir/sim"
)

// mappers read the values of flags. Each name is a value of the tag "type".
func mappers() []kong.Option {
	duration := func(ok func(time.Duration) bool, want string) func(string) (time.Duration, error) {
		return checked(time.ParseDuration, ok, want)
	}
	number := func(text string) (float64, error) { return strconv.ParseFloat(text, 64) }
	return []kong.Option{
		named("count", checked(strconv.Atoi, func(n int) bool { return n >= 1 }, "a whole number, 1 or more")),
		named("size", checked(strconv.Atoi, func(n int) bool { return n >= 0 }, "a whole number, 0 or more")),
		named("repeats", checked(strconv.Atoi, func(n int) bool { return n >= 1 && n <= 10_000 }, "a whole number, 1 to 10000")),
		named("factor", checked(number, func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }, "a number above 0")),
		named("span", duration(func(d time.Duration) bool { return d > 0 }, "a time above 0, such as 500ms")),
		named("pause", duration(func(d time.Duration) bool { return d >= 0 }, "a time such as 30s, or 0 for none")),
		named("upstream", checked(url.Parse, isUpstream, "a URL such as http://127.0.0.1:9000")),
		named("dashboard", events.Parse),
		named("plot", checked(asIs, func(s string) bool { return filepath.Ext(s) == ".svg" }, "a file that ends in .svg")),
		typed(law.Parse),
		typed(parseFactors),
		typed(parseQueue),
	}
}

func asIs[T ~string](text T) (T, error) { return text, nil }

func isUpstream(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" &&
		u.User == nil && u.RawQuery == "" && u.Fragment == ""
}

// checked returns a function that parses a value, and refuses a value that is not ok.
func checked[S ~string, T any](parse func(S) (T, error), ok func(T) bool, want string) func(string) (T, error) {
	return func(text string) (T, error) {
		v, err := parse(S(text))
		if err != nil || !ok(v) {
			return v, fmt.Errorf("%q: want %s", text, want)
		}
		return v, nil
	}
}

func named[T any](name string, parse func(string) (T, error)) kong.Option {
	return kong.NamedMapper(name, mapper(parse))
}

func typed[T any](parse func(string) (T, error)) kong.Option {
	return kong.TypeMapper(reflect.TypeFor[T](), mapper(parse))
}

func mapper[T any](parse func(string) (T, error)) kong.MapperFunc {
	return func(ctx *kong.DecodeContext, target reflect.Value) error {
		var text string
		if err := ctx.Scan.PopValueInto("value", &text); err != nil {
			return err
		}
		v, err := parse(text)
		if err == nil {
			target.Set(reflect.ValueOf(v))
		}
		return err
	}
}

const mostQueued = 1_000_000

func parseQueue(text string) (sim.Queue, error) {
	size, err := strconv.Atoi(text)
	switch {
	case text == "adaptive":
		return sim.Queue{Adaptive: true}, nil
	case err != nil || size < 1 || size > mostQueued:
		return sim.Queue{}, fmt.Errorf("%q: want adaptive, or how many may wait: 1 to %d", text, mostQueued)
	}
	return sim.Queue{Size: size}, nil
}

// factors are the numbers that a rate is multiplied by.
type factors []float64

func parseFactors(text string) (list factors, err error) {
	for field := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(v >= 0.001 && v <= 1000) {
			return nil, fmt.Errorf("%q: want numbers from 0.001 to 1000, such as 0.7,1,1.5", text)
		}
		list = append(list, v)
	}
	return list, nil
}
