package law

import (
	"fmt"
	"math"
	"slices"
	"strconv"
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

// A number is a field with a range: from the value from to atMost, or to less than below, or
// without an upper bound if both are 0. With a preset, or with unset, which describes a default in
// words, a zero field means the default, and a zero in a text is a mistake.
type number[T int | float64 | time.Duration] struct {
	field               *T
	preset              T
	unset               string
	from, below, atMost T
}

// These texts describe the default of several settings.
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

// span names the range of the field in words. A range of durations starts at 0s, which shows the
// unit.
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
	if unset := n.omitted(); n.zero() && unset != "" {
		return fmt.Sprintf("%s out of range: want more than 0, or leave it out for %s", text, unset)
	}
	return ""
}

// omitted describes the default of a field whose text may not be zero.
func (n number[T]) omitted() string {
	if n.preset != 0 {
		return fmt.Sprintf("the default %v", n.preset)
	}
	return n.unset
}

// textSpan names the range of a text in words.
func (n number[T]) textSpan() string {
	switch {
	case n.from != 0 || n.omitted() == "":
		return n.span()
	case n.below != 0:
		return fmt.Sprintf("more than %v and less than %v", n.from, n.below)
	case n.atMost != 0:
		return fmt.Sprintf("more than %v, up to %v", n.from, n.atMost)
	}
	return fmt.Sprintf("more than %v", n.from)
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
	return preset, n.textSpan()
}

func (n number[T]) zero() bool     { return *n.field == 0 }
func (n number[T]) String() string { return fmt.Sprint(*n.field) }

// A choice is a field that takes one of a few values by their names, or keeps its zero.
type choice[T comparable] struct {
	field   *T
	options []option[T]
}

type option[T comparable] struct {
	name  string
	value T
}

func words(names ...string) []option[string] {
	options := make([]option[string], len(names))
	for i, name := range names {
		options[i] = option[string]{name, name}
	}
	return options
}

var onOff = []option[bool]{{"true", true}, {"false", false}}

func (c choice[T]) check() string {
	if c.zero() || slices.ContainsFunc(c.options, func(o option[T]) bool { return o.value == *c.field }) {
		return ""
	}
	return fmt.Sprintf("%v out of range: want %s", *c.field, c.names())
}

func (c choice[T]) read(text string) string {
	for _, o := range c.options {
		if o.name == text {
			*c.field = o.value
			return ""
		}
	}
	return fmt.Sprintf("%q: want %s", text, c.names())
}

func (c choice[T]) names() string {
	names := make([]string, len(c.options))
	for i, o := range c.options {
		names[i] = o.name
	}
	return nearest.Alternatives(names)
}

func (c choice[T]) describe() (preset, allowed string) {
	return choice[T]{new(T), c.options}.String(), c.names()
}

func (choice[T]) fill()        {}
func (c choice[T]) zero() bool { return *c.field == *new(T) }

func (c choice[T]) String() string {
	for _, o := range c.options {
		if o.value == *c.field {
			return o.name
		}
	}
	return fmt.Sprint(*c.field)
}
