package config

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weir-go/weir/law"
)

// A Duration is written as 500ms, 30s or 2m.
type Duration time.Duration

// Bytes is written as 65536, 64KiB or 10MiB.
type Bytes int64

// Law is a control law in its text form.
type Law struct{ law.Law }

// UnmarshalText reads the form of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = Duration(parsed)
	return nil
}

// MarshalText writes 2m rather than 2m0s.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String returns the form that UnmarshalText reads.
func (d Duration) String() string {
	text := time.Duration(d).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

type unit struct {
	name  string
	bytes uint64
}

// units are the units of sizes, the largest first. The last unit has no name, so it fits each text.
var units = []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

// UnmarshalText reads a whole number, alone or with a unit of 1024.
func (b *Bytes) UnmarshalText(text []byte) error {
	unit := units[slices.IndexFunc(units, func(u unit) bool { return strings.HasSuffix(string(text), u.name) })]
	n, err := strconv.ParseUint(strings.TrimSuffix(string(text), unit.name), 10, 63)
	if err != nil {
		return err
	}
	if n > math.MaxInt64/unit.bytes {
		return strconv.ErrRange
	}
	*b = Bytes(n * unit.bytes)
	return nil
}

// MarshalText writes the size in the largest unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String returns the form that UnmarshalText reads.
func (b Bytes) String() string {
	for _, u := range units {
		if b != 0 && uint64(b)%u.bytes == 0 {
			return fmt.Sprint(uint64(b)/u.bytes, u.name)
		}
	}
	return "0"
}

// UnmarshalText reads the form of law.Parse.
func (l *Law) UnmarshalText(text []byte) (err error) {
	l.Law, err = law.Parse(string(text))
	return err
}

// MarshalText writes the form that law.Parse reads.
func (l Law) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// String returns the form that UnmarshalText reads.
func (l Law) String() string { return fmt.Sprint(l.Law) }
