package check

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/weir-go/weir/internal/dag"
	"pgregory.net/rapid"
)

// After any additions in any order: a task is released once, as soon as all of its
// dependencies have succeeded and no earlier; a failure fails all tasks that depend on it,
// and no others; only a task that would depend on itself is refused; and in the end no task
// remains.
func TestGraphModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := dag.New(1000)
		const added, ready, succeeded, gone = 1, 2, 3, 4
		state, after := map[string]int{}, map[string][]string{}
		key := func() string { return fmt.Sprint(rapid.IntRange(0, 7).Draw(t, "key")) }
		var reaches func(from, to string) bool
		reaches = func(from, to string) bool {
			return from == to || slices.ContainsFunc(after[from], func(next string) bool {
				return (state[from] == added || state[from] == ready) && reaches(next, to)
			})
		}
		free := func(key string) bool {
			return !slices.ContainsFunc(after[key], func(other string) bool { return state[other] != succeeded })
		}
		add := func(key string, others []string) {
			if state[key] == succeeded {
				return // such a key is used once; the key of a failed task may be used again
			}
			cycle := slices.ContainsFunc(others, func(other string) bool { return reaches(other, key) })
			failed := slices.ContainsFunc(others, func(other string) bool { return state[other] == gone })
			isReady, err := g.Add(key, others)
			switch {
			case state[key] == added || state[key] == ready:
				if !errors.Is(err, dag.ErrDuplicate) {
					t.Fatalf("%s twice: %v", key, err)
				}
			case (err != nil) != (cycle || failed):
				t.Fatalf("%s after %q: %v, cycle %v, failed %v", key, others, err, cycle, failed)
			case err == nil:
				state[key], after[key] = added, others
				if isReady != free(key) {
					t.Fatalf("%s after %q is ready: %v", key, others, isReady)
				}
				if isReady {
					state[key] = ready
				}
			}
		}
		done := func(key string) {
			if state[key] != ready {
				return
			}
			state[key] = succeeded
			for _, other := range g.Done(key) {
				if state[other] != added || !free(other) {
					t.Fatalf("%s was let go by %s", other, key)
				}
				state[other] = ready
			}
			for other := range state {
				if state[other] == added && free(other) {
					t.Fatalf("%s was forgotten by %s", other, key)
				}
			}
		}
		fail := func(key string) {
			if state[key] >= succeeded {
				return
			}
			var want []string
			for other := range state {
				if other != key && state[other] == added && reaches(other, key) {
					want = append(want, other)
				}
			}
			got := g.Fail(key)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Fatalf("%s failed and took %q, want %q", key, got, want)
			}
			for _, other := range append(got, key) {
				state[other] = gone
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(*rapid.T) {
				add(key(), slices.Compact(rapid.SliceOfN(rapid.Custom(func(*rapid.T) string {
					return key()
				}), 0, 3).Draw(t, "after")))
			},
			"done": func(*rapid.T) { done(key()) },
			"fail": func(*rapid.T) { fail(key()) },
		})
		for _, unknown := range g.Unknown() {
			fail(unknown)
		}
		for range 8 {
			for i := range 8 {
				done(fmt.Sprint(i))
			}
		}
		for key, s := range state {
			if s == added || s == ready {
				t.Fatalf("%s is left: %v", key, state)
			}
		}
	})
}
