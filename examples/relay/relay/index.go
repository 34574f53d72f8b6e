package relay

import "github.com/weir-go/weir/examples/relay/nostr"

// An index finds the subscriptions that may match an event without matching every
// subscription. Each filter is filed under all values of one of its conditions: its ids,
// else its authors, else the values of a tag, else its kinds. Among 20,000 subscriptions to
// one author each, it finds the subscriptions of an event in 0.6 µs; matching every
// subscription takes 1.1 ms (scripts/all go test ./examples/relay/relay -run X -bench
// Publish).
type index struct {
	filed map[heading]map[*subscription]struct{}
}

// A heading is a value of a condition.
type heading struct {
	of     byte // condition with the value: the letter of a tag, or one of these
	number int
	value  string
}

const (
	everything = iota // for filters without a value to file them under
	byID
	byAuthor
	byKind
)

// mostFiled is the largest number of values under which the filters of a connection are
// filed. It bounds the memory of the index. Filters beyond it are matched against each
// event.
const mostFiled = 4096

func (x *index) add(s *subscription) {
	if x.filed == nil {
		x.filed = map[heading]map[*subscription]struct{}{}
	}
	s.headings = nil
	for i := range s.filters {
		s.headings = append(s.headings, headings(&s.filters[i])...)
	}
	if s.conn.filed+len(s.headings) > mostFiled {
		s.headings = []heading{{of: everything}}
	}
	s.conn.filed += len(s.headings)
	for _, h := range s.headings {
		if x.filed[h] == nil {
			x.filed[h] = map[*subscription]struct{}{}
		}
		x.filed[h][s] = struct{}{}
	}
}

func (x *index) remove(s *subscription) {
	s.conn.filed -= len(s.headings)
	for _, h := range s.headings {
		delete(x.filed[h], s)
		if len(x.filed[h]) == 0 {
			delete(x.filed, h)
		}
	}
	s.headings = nil
}

// wanting returns the subscriptions that match an event.
func (x *index) wanting(e *nostr.Event) (wanting []*subscription) {
	asked := map[*subscription]struct{}{}
	for h := range headingsOf(e) {
		for s := range x.filed[h] {
			if _, again := asked[s]; again {
				continue
			}
			asked[s] = struct{}{}
			if wanted(s.filters, e) {
				wanting = append(wanting, s)
			}
		}
	}
	return wanting
}

// headings returns the headings of a filter.
func headings(f *nostr.Filter) (under []heading) {
	switch {
	case f.IDs != nil:
		for _, id := range f.IDs {
			under = append(under, heading{of: byID, value: string(id[:])})
		}
	case f.Authors != nil:
		for _, key := range f.Authors {
			under = append(under, heading{of: byAuthor, value: string(key[:])})
		}
	case len(f.Tags) > 0:
		letter := fewest(f.Tags) // a matching event meets all conditions of the filter, so one is enough
		for _, value := range f.Tags[letter] {
			under = append(under, heading{of: letter, value: value})
		}
	case f.Kinds != nil:
		for _, kind := range f.Kinds {
			under = append(under, heading{of: byKind, number: kind})
		}
	default:
		under = []heading{{of: everything}}
	}
	return under
}

// filedUnder returns the number of headings of a filter.
func filedUnder(f *nostr.Filter) int {
	switch {
	case f.IDs != nil:
		return len(f.IDs)
	case f.Authors != nil:
		return len(f.Authors)
	case len(f.Tags) > 0:
		return len(f.Tags[fewest(f.Tags)])
	case f.Kinds != nil:
		return len(f.Kinds)
	}
	return 1
}

// fewest returns the letter of the tag with the fewest allowed values, the first one of
// several.
func fewest(tags map[byte][]string) (letter byte) {
	for l, values := range tags {
		if n := len(tags[letter]); letter == 0 || len(values) < n || len(values) == n && l < letter {
			letter = l
		}
	}
	return letter
}

// headingsOf returns every heading under which a filter that matches the event may be filed.
func headingsOf(e *nostr.Event) map[heading]struct{} {
	of := map[heading]struct{}{
		{of: everything}:                           {},
		{of: byID, value: string(e.ID[:])}:         {},
		{of: byAuthor, value: string(e.PubKey[:])}: {},
		{of: byKind, number: e.Kind}:               {},
	}
	for _, t := range e.Tags {
		if len(t) >= 2 && len(t[0]) == 1 {
			of[heading{of: t[0][0], value: t[1]}] = struct{}{}
		}
	}
	return of
}
