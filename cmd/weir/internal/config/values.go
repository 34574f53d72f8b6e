package config

import (
	"fmt"
	"math"
	"regexp"
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

// The forms of these texts, for the schema and for errors.
const (
	bytesForm = `^[0-9]+([KMG]iB)?$`

	wantDuration = "a time such as 500ms, 30s or 2m"
	wantBytes    = "a size such as 65536, 64KiB or 10MiB"
)

// UnmarshalText reads the form of time.ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := time.ParseDuration(string(text))
	if err != nil {
		return wanted(wantDuration)
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

// units of sizes, the largest first.
var units = []struct {
	name  string
	bytes int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"", 1}}

var bytesPattern = regexp.MustCompile(bytesForm)

// UnmarshalText reads a whole number, alone or with a unit of 1024.
func (b *Bytes) UnmarshalText(text []byte) error {
	if !bytesPattern.Match(text) {
		return wanted(wantBytes)
	}
	for _, u := range units {
		if number, is := strings.CutSuffix(string(text), u.name); is {
			n, err := strconv.ParseInt(number, 10, 64)
			if err != nil || n > math.MaxInt64/u.bytes {
				return wanted(wantBytes)
			}
			*b = Bytes(n * u.bytes)
			return nil
		}
	}
	return wanted(wantBytes)
}

// MarshalText writes the size in the largest unit that divides it.
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String returns the form that UnmarshalText reads.
func (b Bytes) String() string {
	for _, u := range units {
		if b != 0 && int64(b)%u.bytes == 0 {
			return fmt.Sprint(int64(b)/u.bytes, u.name)
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

// String returns the form that UnmarshalText reads, or "" without a law.
func (l Law) String() string {
	if l.Law == nil {
		return ""
	}
	return fmt.Sprint(l.Law)
}

// wanted is an error that describes the allowed values.
type wanted string

func (w wanted) Error() string { return "want " + string(w) }
