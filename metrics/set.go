package metrics

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/bulkhead"
	"github.com/weir-go/weir/internal/label"
)

var setCap = line(Gauge, "weir_set_cap", "weir.set.cap", "{request}", "Work that may be in flight in all keys together; absent without a cap.", limiterName)

var forSet = columns[bulkhead.Snapshot]{
	{line(Gauge, "weir_set_unknown_keys", "weir.set.keys.unknown", "{key}", "Keys that the configuration does not name.", limiterName), func(s *bulkhead.Snapshot) float64 { return float64(s.Unknown) }},
	{line(Gauge, "weir_set_leaving_keys", "weir.set.keys.leaving", "{key}", "Keys that an update removed and that still have work.", limiterName), func(s *bulkhead.Snapshot) float64 { return float64(s.Leaving) }},
	{line(Counter, "weir_set_evicted_keys_total", "weir.set.keys.evicted", "{key}", "Unknown keys that others replaced.", limiterName), func(s *bulkhead.Snapshot) float64 { return float64(s.Evicted) }},
}

// forShare shows the slots of each key of a set with a cap.
var forShare = columns[weir.Snapshot]{
	{line(Gauge, "weir_key_reserved", "weir.key.reserved", "{request}", "Slots of the cap for this key alone.", limiterName, key), func(k *weir.Snapshot) float64 { return float64(k.Reserved) }},
	{line(Gauge, "weir_key_entitled", "weir.key.entitled", "{request}", "Slots of the cap that the key has a right to now.", limiterName, key), func(k *weir.Snapshot) float64 { return k.Entitled }},
	{line(Gauge, "weir_key_borrowed", "weir.key.borrowed", "{request}", "Slots in flight beyond its entitlement.", limiterName, key), func(k *weir.Snapshot) float64 { return k.Borrowed }},
}

// set is a bulkhead.Set with the keys that have series.
type set struct {
	source *bulkhead.Set
	labels []string // its name
	most   int

	mu     sync.Mutex
	places map[string]*keyLabels
}

// keyLabels are the labels of a key that has series.
type keyLabels struct {
	labels []string // of the set and of the key
	given  time.Time
}

// placeLasts is the least time for which a key keeps its place. It bounds the names in an hour to
// the number of places, however many keys clients invent. Without it each scrape could have new
// names, and a monitoring system keeps all names.
const placeLasts = time.Hour

func setPart(source *bulkhead.Set, name string, most int) part {
	s := &set{source: source, labels: []string{name}, most: most, places: map[string]*keyLabels{}}
	of := slices.Concat(forLimiter.all(), forKey.all(), []*Instrument{setCap}, forSet.all(), forShare.all())
	return part{[]series{{of, name}}, s.read}
}

func (s *set) read(out output) {
	snap, conf := s.source.Snapshot(), s.source.Config()
	forLimiter.read(out, &snap.Total, 0, s.labels)
	if conf.Max > 0 {
		out.number(setCap, float64(snap.Max), s.labels)
	}
	forSet.read(out, &snap, s.labels)
	for name, place := range s.seat(&snap, &conf) {
		k := snap.ByKey[name]
		forKey.read(out, &k, targetOfKey(&conf, name), place.labels)
		forKey.readPeak(out, &k, place.labels)
		if conf.Max > 0 {
			forShare.read(out, &k, place.labels)
		}
	}
}

// seat returns the keys that have series: the keys with a name in the configuration, the keys that
// had series before, and the busiest others, as far as there is room.
func (s *set) seat(snap *bulkhead.Snapshot, conf *bulkhead.Config) map[string]*keyLabels {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.places, func(name string, place *keyLabels) bool {
		_, present := snap.ByKey[name]
		return !present && time.Since(place.given) >= placeLasts
	})
	taken, room := map[string]bool{}, s.most
	for name, place := range s.places {
		taken[place.labels[1]] = true
		if !isNamed(conf, name) {
			room--
		}
	}
	var unknown []string
	for name := range snap.ByKey {
		if s.places[name] != nil {
			continue
		}
		if isNamed(conf, name) {
			s.give(name, taken)
		} else {
			unknown = append(unknown, name)
		}
	}
	slices.SortFunc(unknown, func(a, b string) int {
		return cmp.Or(cmp.Compare(snap.ByKey[b].Admitted, snap.ByKey[a].Admitted), cmp.Compare(a, b))
	})
	for _, name := range unknown[:min(len(unknown), max(0, room))] {
		s.give(name, taken)
	}
	present := maps.Clone(s.places)
	maps.DeleteFunc(present, func(name string, _ *keyLabels) bool {
		_, ok := snap.ByKey[name]
		return !ok
	})
	return present
}

// isNamed reports whether a key does not count for MaxKeys: the configuration names it, or it is
// the overflow.
func isNamed(conf *bulkhead.Config, name string) bool {
	_, named := conf.ByKey[name]
	return named || name == bulkhead.Overflow
}

// give gives a key series, unless another key has the same value as a label: two equal series would
// fail the whole scrape.
func (s *set) give(name string, taken map[string]bool) {
	value := label.Clean(name)
	if taken[value] {
		return
	}
	taken[value] = true
	s.places[name] = &keyLabels{join(s.labels, value), time.Now()}
}

// targetOfKey returns the latency that the key's budget or law keeps, or 0 if there is none.
func targetOfKey(conf *bulkhead.Config, name string) time.Duration {
	c, named := conf.ByKey[name]
	if !named {
		c = conf.Default
	}
	if c.Budget > 0 {
		return c.Budget
	}
	return targetOf(c.Config.Law)
}
