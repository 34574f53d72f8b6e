package law

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/internal/nearest"
)

// A value is a field that can be checked, read and written. A complaint names the mistake and
// the allowed values, or is empty.
type value interface {
	check() (complaint string)
	read(text string) (complaint string)
	fill() // replaces a zero by the default
	describe() (preset, allowed string)
	zero() bool
	String() string
}

// A number is a field from the value from to atMost, or to less than below, or without an
// upper bound if those are 0. With a preset, or with unset, its description in words, a zero
// field means that default, and a zero in a text is a mistake.
type number[T int | float64 | time.Duration] struct {
	field               *T
	preset              T
	unset               string
	from, below, atMost T
}

// The meaning of several settings when they are left out.
const (
	noBound   = "no bound"
	ofLimiter = "the limiter's own"
)

func (n number[T]) check() string {
	v := *n.field
	ends := n.below != 0 && v >= n.below || n.atMost != 0 && v > n.atMost
	starts := v >= n.from || n.zero()
	if starts && !ends && !math.IsInf(float64(v), 1) {
		return ""
	}
	return fmt.Sprintf("%v out of range: want %s", v, n.span())
}

// span names the range in words. A range of durations starts at 0s, which shows the unit.
func (n number[T]) span() string {
	switch {
	case n.below != 0:
		return fmt.Sprintf("%v to less than %v", n.from, n.below)
	case n.atMost != 0:
		return fmt.Sprintf("%v to %v", n.from, n.atMost)
	}
	return fmt.Sprintf("%v or more", n.from)
}

func (n number[T]) read(text string) string {
	var err error
	var want string
	switch field := any(n.field).(type) {
	case *int:
		want = "a whole number"
		*field, err = strconv.Atoi(text)
	case *float64:
		want = "a number"
		*field, err = strconv.ParseFloat(text, 64)
	case *time.Duration:
		want = "a duration such as 100ms"
		*field, err = time.ParseDuration(text)
	}
	if err != nil {
		return fmt.Sprintf("%q: want %s", text, want)
	}
	unset := n.unset
	if n.preset != 0 {
		unset = fmt.Sprintf("the default %v", n.preset)
	}
	if n.zero() && unset != "" {
		return fmt.Sprintf("%s out of range: want more than 0, or leave it out for %s", text, unset)
	}
	return ""
}

func (n number[T]) fill() {
	if n.zero() {
		*n.field = n.preset
	}
}

func (n number[T]) describe() (preset, allowed string) {
	if n.preset != 0 {
		preset = fmt.Sprint(n.preset)
	}
	return preset, n.span()
}

func (n number[T]) zero() bool     { return *n.field == 0 }
func (n number[T]) String() string { return fmt.Sprint(*n.field) }

// A toggle is a field that is off by default.
type toggle struct {
	field *bool
}

func (t toggle) read(text string) string {
	var err error
	if *t.field, err = strconv.ParseBool(text); err != nil {
		return fmt.Sprintf("%q: want true or false", text)
	}
	return ""
}

func (toggle) describe() (preset, allowed string) { return "false", "true or false" }

func (toggle) check() string    { return "" }
func (toggle) fill()            {}
func (t toggle) zero() bool     { return !*t.field }
func (t toggle) String() string { return strconv.FormatBool(*t.field) }

// A choice is a field that takes one of a few signals; the zero is among them.
type choice struct {
	field   *Signal
	options []option
}

type option struct {
	name   string
	signal Signal
}

func (c choice) check() string {
	if slices.ContainsFunc(c.options, func(o option) bool { return o.signal == *c.field }) {
		return ""
	}
	return fmt.Sprintf("%v out of range: want %s", *c.field, c.names())
}

func (c choice) read(text string) string {
	for _, o := range c.options {
		if o.name == text {
			*c.field = o.signal
			return ""
		}
	}
	return fmt.Sprintf("%q: want %s", text, c.names())
}

func (c choice) names() string {
	names := make([]string, len(c.options))
	for i, o := range c.options {
		names[i] = o.name
	}
	return nearest.Alternatives(names)
}

func (c choice) describe() (preset, allowed string) {
	return choice{new(Signal), c.options}.String(), c.names()
}

func (choice) fill()        {}
func (c choice) zero() bool { return *c.field == 0 }

func (c choice) String() string {
	for _, o := range c.options {
		if o.signal == *c.field {
			return o.name
		}
	}
	return c.field.String()
}

// A word is a field that takes one of a few words, or none.
type word struct {
	field   *string
	allowed []string
}

func (v word) check() string {
	if v.zero() || slices.Contains(v.allowed, *v.field) {
		return ""
	}
	return fmt.Sprintf("%q: want %s", *v.field, nearest.Alternatives(v.allowed))
}

func (v word) read(text string) string {
	if !slices.Contains(v.allowed, text) {
		return fmt.Sprintf("%q: want %s", text, nearest.Alternatives(v.allowed))
	}
	*v.field = text
	return ""
}

func (v word) describe() (preset, allowed string) { return "", strings.Join(v.allowed, "|") }

func (word) fill()            {}
func (v word) zero() bool     { return *v.field == "" }
func (v word) String() string { return *v.field }
