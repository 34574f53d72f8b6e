package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// patience is the time that a test may take, besides four times the usual time of the tests of its
// package. It is more than the 20 s for which tests with servers wait for a condition, so that they
// fail by themselves. A test that still hangs after that time is red as well.
var patience = 25 * time.Second

// judge tries all mutants and prints the verdict on each. A mutant that is not killed is tried a
// second time, when nothing else runs: on a busy machine a test may fail late. A mutant that
// survives the second trial is an error.
func judge(w io.Writer, root string, list []mutant) error {
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	tests, err := build(tmp, root, list)
	if err != nil {
		return err
	}
	again := try(w, root, tests, list, 8, "again ") // a test that fails often waits for a condition first
	failed := try(w, root, tests, again, 1, "FAIL  ")
	fmt.Fprintf(w, "mutants: %d killed; %d at the second try or not at all, %d not killed\n", len(list)-len(failed), len(again), len(failed))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", len(failed), len(list))
	}
	return nil
}

// A trial is the result of the tests of a package without a mutant.
type trial struct {
	output string
	took   time.Duration
}

// try tries mutants, at most atOnce at a time, and returns the mutants that are not killed. It runs
// the tests of a package on the real code first: only a test that passes there proves anything when
// it fails.
func try(w io.Writer, root string, tests map[string]string, list []mutant, atOnce int, verdict string) (alive []mutant) {
	named := map[string][]string{} // tests, by package
	for _, m := range list {
		test, _, _ := strings.Cut(m.test, "/")
		named[m.pkg()] = append(named[m.pkg()], test)
	}
	var mu sync.Mutex // guards w and the results
	plain := map[string]trial{}
	inTurns(atOnce, slices.Collect(maps.Keys(named)), func(pkg string) {
		start := time.Now()
		output, err := run(root, pkg, tests[pkg], strings.Join(named[pkg], "|"), "", time.Hour)
		if err != nil && !strings.Contains(output, "--- FAIL: ") {
			output = "" // it is red whatever the tests say
		}
		mu.Lock()
		defer mu.Unlock()
		plain[pkg] = trial{output, time.Since(start)}
	})
	inTurns(atOnce, list, func(m mutant) {
		err := m.kill(root, tests[m.pkg()], plain[m.pkg()])
		mu.Lock()
		defer mu.Unlock()
		if err == nil {
			fmt.Fprintf(w, "killed  %s\n", m)
		} else {
			fmt.Fprintf(w, "%s  %s: %v\n", verdict, m, err)
			alive = append(alive, m)
		}
	})
	return alive
}

// inTurns calls do with each element of a list, at most atOnce at a time.
func inTurns[T any](atOnce int, list []T, do func(T)) {
	turns := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, one := range list {
		turns <- struct{}{}
		all.Go(func() {
			do(one)
			<-turns
		})
	}
	all.Wait()
}

// kill runs the test with the mutant. The test must have run, too: a test that cannot start does
// not kill a mutant.
func (m mutant) kill(root, binary string, plain trial) error {
	if !strings.Contains(plain.output, "--- PASS: "+m.test+" ") {
		return fmt.Errorf("%s does not pass on the real code of %s, or is skipped", m.test, m.pkg())
	}
	_, err := run(root, m.pkg(), binary, m.test, m.name, 4*plain.took+patience)
	switch exit := new(exec.ExitError); {
	case err == nil:
		return errors.New("survived: no behaviour that this test checks depends on the changed code")
	case !errors.As(err, &exit):
		return fmt.Errorf("the test did not run to its end: %w", err)
	}
	return nil
}
