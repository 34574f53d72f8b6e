package nostr

import (
	"cmp"
	"math"
	"slices"
)

// ParseFilter parses a filter. It sorts the values and removes duplicates. The limit is the
// client's, or Limits.Limit if that is lower or the client sets none.
//
// A condition with an empty list matches nothing. Unknown fields are ignored: clients send
// fields of extensions, such as the search of NIP-50, to every relay. A tag name longer than
// a letter, which relays do not index, is refused. The error's text is a Reason.
func ParseFilter(text []byte, l Limits) (Filter, error) {
	l = l.WithDefaults()
	s := newScanner(text, l)
	f := s.filter(l)
	s.end()
	if s.err != nil {
		return Filter{}, s.err
	}
	return f, nil
}

func (s *scanner) filter(l Limits) Filter {
	f := Filter{Limit: l.Limit}
	values := 0
	value := func() {
		if values++; values > l.Values {
			s.fail("more than %d values in a filter", l.Values)
		}
	}
	var ids, authors, kinds, since, until, limit bool
	s.object(func(key string) {
		s.field = key
		defer func() { s.field = "" }()
		switch key {
		case "ids":
			s.once(&ids)
			f.IDs = list(s, value, func() (id ID) { s.hex(id[:]); return id }, compareIDs)
		case "authors":
			s.once(&authors)
			f.Authors = list(s, value, func() (key PubKey) { s.hex(key[:]); return key }, compareKeys)
		case "kinds":
			s.once(&kinds)
			f.Kinds = list(s, value, func() int { return int(s.integer(0, maxKind)) }, cmp.Compare[int])
		case "since":
			s.once(&since)
			f.Since = max(0, s.integer(math.MinInt64, math.MaxInt64)) // no event is from before 1970
		case "until":
			s.once(&until)
			if f.Until = s.integer(math.MinInt64, math.MaxInt64); f.Until == 0 {
				f.Until = -1 // no event is from before that time
			}
		case "limit":
			s.once(&limit)
			f.Limit = int(min(int64(l.Limit), s.integer(0, math.MaxInt64)))
		default:
			if len(key) == 0 || key[0] != '#' {
				s.skip()
				return
			}
			s.tagCondition(&f, key[1:], value)
		}
	})
	return f
}

// tagCondition parses the allowed values of a tag.
func (s *scanner) tagCondition(f *Filter, name string, value func()) {
	if len(name) != 1 || !isLetter(name[0]) {
		s.failAs(Unsupported, "only tags of a single letter are indexed")
		return
	}
	if _, twice := f.Tags[name[0]]; twice {
		s.fail("the field is there twice")
		return
	}
	if f.Tags == nil {
		f.Tags = map[byte][]string{}
	}
	f.Tags[name[0]] = list(s, value, s.string, cmp.Compare[string])
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

// list parses an array of values, sorts them, and removes duplicates.
func list[T comparable](s *scanner, count func(), read func() T, compare func(a, b T) int) []T {
	values := []T{}
	s.array(func() {
		count()
		values = append(values, read())
	})
	slices.SortFunc(values, compare)
	return slices.Compact(values)
}
