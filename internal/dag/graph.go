package dag

import (
	"errors"
	"fmt"
	"strings"
)

// ErrDuplicate is the error of Add if a task of that key is in the graph already.
var ErrDuplicate = errors.New("a task of this key is not finished yet")

// A CycleError names the tasks that would wait for one another, the first twice.
type CycleError struct{ Keys []string }

// Error returns a sentence such as "cycle: a waits for b waits for a".
func (e *CycleError) Error() string { return "cycle: " + strings.Join(e.Keys, " waits for ") }

// A FailedError names the task that failed before.
type FailedError struct{ Key string }

// Error returns a sentence such as `it waits for "a", which failed`.
func (e *FailedError) Error() string { return fmt.Sprintf("it waits for %q, which failed", e.Key) }

// A Graph holds tasks and their dependencies. It remembers how the last tasks that finished
// ended. It is not safe for concurrent use.
type Graph struct {
	nodes    map[string]*node
	history  int // the number of finished tasks that it remembers
	finished map[string]ending
	recent   []string // the keys of finished, as a ring
	next     int
}

// An ending describes the last end of a task.
type ending struct {
	succeeded bool
	place     int // in the ring
}

type node struct {
	key     string
	added   bool     // false if other tasks only wait for it
	after   []string // the keys that it waits for
	missing int      // the number of these that are not finished
	waiting []*node  // the tasks that wait for it, or did until they were taken out
}

// New returns an empty graph that remembers that number of finished tasks.
func New(history int) *Graph {
	return &Graph{nodes: map[string]*node{}, history: history, finished: map[string]ending{}}
}

// Add adds a task, and reports whether it waits for no other task. If it cannot be added, the graph
// does not change, and the error is [ErrDuplicate], a [*CycleError] or a [*FailedError].
func (g *Graph) Add(key string, after []string) (ready bool, err error) {
	n := g.nodes[key]
	if n != nil && n.added {
		return false, ErrDuplicate
	}
	seen := map[string]bool{}
	for _, other := range after {
		if end, done := g.finished[other]; done && !end.succeeded && g.nodes[other] == nil {
			return false, &FailedError{other}
		}
		if other == key {
			return false, &CycleError{[]string{key, key}}
		}
		if n != nil { // other tasks wait for it
			if way := g.way(other, key, seen); way != nil {
				return false, &CycleError{append([]string{key}, way...)}
			}
		}
	}
	n = g.node(key)
	n.added, n.after = true, after
	for _, other := range after {
		if _, done := g.finished[other]; done && g.nodes[other] == nil {
			continue
		}
		o := g.node(other)
		o.waiting = append(o.waiting, n)
		n.missing++
	}
	return n.missing == 0, nil
}

func (g *Graph) node(key string) *node {
	n := g.nodes[key]
	if n == nil {
		n = &node{key: key}
		g.nodes[key] = n
	}
	return n
}

// way returns a path by which one task waits for another, nil if there is none. It skips tasks that
// it has seen before, which have no path: the number of all paths could be huge.
func (g *Graph) way(from, to string, seen map[string]bool) []string {
	if from == to {
		return []string{to}
	}
	n := g.nodes[from]
	if n == nil || seen[from] {
		return nil
	}
	seen[from] = true
	for _, other := range n.after {
		if way := g.way(other, to, seen); way != nil {
			return append([]string{from}, way...)
		}
	}
	return nil
}

// Done removes a task that succeeded, and returns the tasks that now wait for no other, in the
// order in which they were added.
func (g *Graph) Done(key string) (ready []string) {
	n := g.nodes[key]
	g.finish(key, true)
	for _, o := range n.waiting {
		if g.nodes[o.key] != o { // it was taken out, and perhaps came again
			continue
		}
		if o.missing--; o.missing == 0 {
			ready = append(ready, o.key)
		}
	}
	return ready
}

// Fail removes a task that failed, and all tasks that wait for it directly or indirectly. It
// returns the waiting tasks, each before the tasks that wait for it. The failed task may have been
// refused or never added: a later task that waits for it fails too.
func (g *Graph) Fail(key string) (cancelled []string) {
	for todo := []*node{g.node(key)}; len(todo) > 0; todo = todo[1:] {
		n := todo[0]
		if g.nodes[n.key] != n {
			continue // it was removed already, by another path
		}
		g.finish(n.key, false)
		if n.key != key {
			cancelled = append(cancelled, n.key)
		}
		todo = append(todo, n.waiting...)
	}
	return cancelled
}

func (g *Graph) finish(key string, succeeded bool) {
	delete(g.nodes, key)
	if g.history == 0 {
		return
	}
	if len(g.recent) < g.history {
		g.recent = append(g.recent, "")
	}
	if oldest := g.recent[g.next]; g.finished[oldest].place == g.next { // and oldest did not come again
		delete(g.finished, oldest)
	}
	key = strings.Clone(key) // it may be a part of a large text, which it would keep in memory
	g.recent[g.next] = key
	g.finished[key] = ending{succeeded, g.next}
	g.next = (g.next + 1) % g.history
}

// Unknown returns the keys that tasks wait for and that were never added.
func (g *Graph) Unknown() (keys []string) {
	for key, n := range g.nodes {
		if !n.added {
			keys = append(keys, key)
		}
	}
	return keys
}
