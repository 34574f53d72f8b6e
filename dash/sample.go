package dash

import (
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/isolate"
	"github.com/weir-go/weir/internal/label"
	"github.com/weir-go/weir/internal/recording"
	"github.com/weir-go/weir/pool"
)

// A reading has the state of all sources that the page shows, by name.
type reading struct {
	limiters map[string]*weir.Snapshot
	tenants  map[string]bool            // limiters of Config.Tenants
	moves    map[string][]pool.Decision // changes of the size of each pool
	tables   []Table
	err      error // of a function of the user
}

// reading reads all sources that the page shows. Of limiters with the same name it has the first,
// and tenants come last.
func (h *hub) reading() reading {
	r := reading{limiters: map[string]*weir.Snapshot{}, tenants: map[string]bool{}, moves: map[string][]pool.Decision{}}
	for _, snap := range h.config.Read() {
		r.add(snap)
	}
	for _, name := range slices.Sorted(maps.Keys(h.config.Pools)) {
		state := h.config.Pools[name].Snapshot()
		snap := poolReading(state)
		snap.Name = name
		if label, ok := r.add(*snap); ok {
			r.moves[label] = resized(state, h.config.Pools[name].History())
		}
		r.tables = append(r.tables, poolTable(name, state))
	}
	if h.config.Tenants != nil {
		for _, snap := range h.config.Tenants() {
			if label, ok := r.add(snap); ok {
				r.tenants[label] = true
			}
		}
	}
	if h.config.Tables != nil {
		r.tables = append(r.tables, h.config.Tables()...)
	}
	return r
}

// add adds a limiter unless there is one of its name.
func (r reading) add(snap weir.Snapshot) (name string, ok bool) {
	name = label.Clean(snap.Name)
	if r.limiters[name] != nil {
		return name, false
	}
	r.limiters[name] = &snap
	return name, true
}

// shown returns the names of the limiters that have room, tenants last.
func (r reading) shown() []string {
	names := slices.Sorted(maps.Keys(r.limiters))
	names = slices.DeleteFunc(names, func(name string) bool { return r.tenants[name] })
	names = append(names, slices.Sorted(maps.Keys(r.tenants))...)
	return names[:min(len(names), mostLimiters)]
}

// attempt is reading, but returns a panic of a user's function as an error.
func (h *hub) attempt() (r reading) {
	r.err = isolate.Call(func() { r = h.reading() })
	return r
}

// keep keeps a reading. Limiters that are gone are forgotten. After a panic of a function of the
// user, the page keeps the earlier readings.
func (h *hub) keep(now time.Time, r reading) {
	h.begun = true
	if r.err != nil {
		h.unread(r.err)
		return
	}
	h.fault = ""
	h.inOrder(now)
	read := map[string]*series{}
	for _, name := range r.shown() {
		old, tenant := h.series[name], r.tenants[name]
		if old == nil || old.tenant != tenant { // the past of a tenant is not for all
			old = &series{tenant: tenant}
		}
		read[name] = old
		read[name].add(now, r.limiters[name])
		if all, ok := r.moves[name]; ok {
			read[name].decided(all)
		}
	}
	all := len(r.limiters)
	h.more = map[bool]int{true: all - len(read), false: max(all-len(r.tenants)-mostLimiters, 0)}
	h.series, h.others = read, cut(r.tables)
	h.before, h.refused = h.refused, h.config.Refusals.count()
}

// inOrder forgets all readings if the clock was turned back, and lets the pages begin anew: charts
// and recordings are in the order of time.
func (h *hub) inOrder(now time.Time) {
	at := now.UnixMilli()
	if at <= h.kept {
		h.series = map[string]*series{}
		for c := range h.clients {
			c.placed = false
		}
	}
	h.kept = at
}

// unread shows that a function of the user has failed. It logs each new error and does not show it,
// because the page may be public.
func (h *hub) unread(err error) {
	h.before = h.refused // all requests that were read have been sent
	h.others = []recording.Table{{Name: "not read", Rows: [][2]string{{"why", "a function of dash.Config failed: see the log"}}}}
	if h.fault == err.Error() {
		return
	}
	h.fault = err.Error()
	var stack []byte
	if p, ok := errors.AsType[*isolate.PanicError](err); ok {
		stack = p.Stack
	}
	slog.Error("dash: a function of dash.Config "+h.fault, "stack", string(stack))
}
