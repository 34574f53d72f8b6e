package protocol

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/nbd-wtf/go-nostr"
	"github.com/tidwall/gjson"
)

// These bound created_at: the maximum is the largest integer that every JSON implementation reads
// without rounding.
const (
	minTime = 1
	maxTime = 1<<53 - 1
)

const maxKind = 65535

// A parser reads the values of a message, and keeps the first error.
type parser struct {
	fields []string // known fields of the object that were read
	field  string   // being read, for errors
	values int      // of the filter
	err    error
}

// fail keeps the first error.
func (p *parser) fail(format string, args ...any) {
	if p.err != nil {
		return
	}
	if p.field != "" {
		format = "%.40q: " + format
		args = append([]any{p.field}, args...)
	}
	p.err = Errorf(Invalid, format, args...)
}

func (p *parser) event(v gjson.Result) (e nostr.Event) {
	p.object(v, func(field string, v gjson.Result) (known bool) {
		switch field {
		case "id":
			e.ID = p.hex(v, 64)
		case "pubkey":
			e.PubKey = p.hex(v, 64)
		case "created_at":
			e.CreatedAt = nostr.Timestamp(p.integer(v, minTime, maxTime))
		case "kind":
			e.Kind = int(p.integer(v, 0, maxKind))
		case "tags":
			e.Tags = p.tags(v)
		case "content":
			if e.Content = p.string(v); len(e.Content) > maxContent {
				p.fail("%d bytes, where at most %d are allowed", len(e.Content), maxContent)
			}
		case "sig":
			e.Sig = p.hex(v, 128)
		default:
			return false
		}
		return true
	})
	for _, field := range []string{"id", "pubkey", "created_at", "kind", "tags", "content", "sig"} {
		if !slices.Contains(p.fields, field) {
			p.fail("the event has no field %q", field)
		}
	}
	return e
}

// tags reads the tags of an event. All tags are slices of one array of values.
func (p *parser) tags(v gjson.Result) nostr.Tags {
	tags := make(nostr.Tags, 0, min(strings.Count(v.Raw, "["), maxTags))
	values := make([]string, 0, min(strings.Count(v.Raw, `"`)/2, maxTagValues))
	p.array(v, func(tag gjson.Result) {
		if len(tags) == maxTags {
			p.fail("more than %d tags", maxTags)
			return
		}
		start := len(values)
		p.array(tag, func(value gjson.Result) {
			if len(values) == maxTagValues {
				p.fail("more than %d values in all tags", maxTagValues)
				return
			}
			values = append(values, p.string(value))
		})
		tags = append(tags, slices.Clip(values[start:]))
	})
	return tags
}

// filter reads a filter. It sorts the values, as Matches expects, and removes duplicates. The
// limit is the client's, or MaxLimit if that is lower or the client sets none.
//
// A condition with an empty list matches nothing. Unknown fields are ignored: clients send
// fields of extensions, such as the search of NIP-50, to every relay. A tag name longer than
// a letter, which relays do not index, is refused.
func (p *parser) filter(v gjson.Result) nostr.Filter {
	f := nostr.Filter{Limit: MaxLimit}
	p.values = 0
	digits := func(v gjson.Result) string { return p.hex(v, 64) }
	p.object(v, func(field string, v gjson.Result) (known bool) {
		switch field {
		case "ids":
			f.IDs = list(p, v, digits)
		case "authors":
			f.Authors = list(p, v, digits)
		case "kinds":
			f.Kinds = list(p, v, func(v gjson.Result) int { return int(p.integer(v, 0, maxKind)) })
		case "since":
			f.Since = p.timestamp(v)
		case "until":
			f.Until = p.timestamp(v)
		case "limit":
			f.Limit = int(min(p.integer(v, 0, math.MaxInt64), MaxLimit))
			f.LimitZero = f.Limit == 0
		default:
			name, ofTag := strings.CutPrefix(field, "#")
			if !ofTag {
				return false
			}
			if len(name) != 1 || !isLetter(name[0]) {
				p.fail("only tags of a single letter are indexed")
			}
			if f.Tags == nil {
				f.Tags = nostr.TagMap{}
			}
			f.Tags[name] = list(p, v, p.string)
		}
		return true
	})
	return f
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// list reads an array of values, sorts them, and removes duplicates.
func list[T cmp.Ordered](p *parser, v gjson.Result, read func(gjson.Result) T) []T {
	values := []T{}
	p.array(v, func(v gjson.Result) {
		if p.values++; p.values > maxValues {
			p.fail("more than %d values in a filter", maxValues)
			return
		}
		values = append(values, read(v))
	})
	slices.Sort(values)
	return slices.Compact(values)
}

// object reads an object. A field that it knows may not occur twice.
func (p *parser) object(v gjson.Result, read func(field string, v gjson.Result) (known bool)) {
	if !v.IsObject() {
		p.fail("want an object")
		return
	}
	p.fields = p.fields[:0]
	v.ForEach(func(key, v gjson.Result) bool {
		p.field = key.Str
		if read(p.field, v) {
			if slices.Contains(p.fields, p.field) {
				p.fail("the field is there twice")
			}
			p.fields = append(p.fields, p.field)
		}
		p.field = ""
		return p.err == nil
	})
}

// array reads an array, up to the first error.
func (p *parser) array(v gjson.Result, read func(element gjson.Result)) {
	if !v.IsArray() {
		p.fail("want an array")
		return
	}
	v.ForEach(func(_, element gjson.Result) bool {
		read(element)
		return p.err == nil
	})
}

func (p *parser) string(v gjson.Result) string {
	if v.Type != gjson.String {
		p.fail("want a string")
	}
	return v.Str
}

// hex reads a string of lower-case hexadecimal digits, whose number is digits.
func (p *parser) hex(v gjson.Result, digits int) string {
	if v.Type != gjson.String || !IsHex(v.Str, digits) {
		p.fail("want %d lower-case hexadecimal digits", digits)
	}
	return v.Str
}

// IsHex reports whether a text consists of the given number of lower-case hexadecimal digits.
func IsHex(text string, digits int) bool {
	for i := range len(text) {
		if c := text[i]; (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return len(text) == digits
}

// integer reads a number without fraction or exponent.
func (p *parser) integer(v gjson.Result, low, high int64) int64 {
	n, err := strconv.ParseInt(v.Raw, 10, 64)
	if v.Type != gjson.Number || err != nil || n < low || n > high {
		p.fail("want an integer from %d to %d", low, high)
	}
	return n
}

func (p *parser) timestamp(v gjson.Result) *nostr.Timestamp {
	return new(nostr.Timestamp(p.integer(v, math.MinInt64, math.MaxInt64)))
}
