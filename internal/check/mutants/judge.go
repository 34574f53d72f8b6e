package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// patience is how long a test may take, besides four times its usual time. It is more than the 20 s
// for which tests with servers wait for a condition, so that they fail by themselves. A test that
// still hangs then is red as well.
const patience = 25 * time.Second

// A verdict is nil in err if the test killed the mutant.
type verdict struct {
	mutant
	err error
}

// judge tries all mutants and prints the verdict on each. A mutant that is not killed is tried a
// second time, when nothing else runs: on a busy machine a test may fail late. It is an error if
// one is not killed then.
func judge(w io.Writer, root string, list []mutant) error {
	var again []mutant
	failed := 0
	settle := func(v verdict) {
		if v.err != nil {
			failed++
			fmt.Fprintf(w, "FAIL    %s: %v\n", v.mutant, v.err)
			return
		}
		fmt.Fprintf(w, "killed  %s\n", v.mutant)
	}
	for v := range try(root, list) {
		if v.err != nil {
			again = append(again, v.mutant)
			fmt.Fprintf(w, "again   %s: %v\n", v.mutant, v.err)
			continue
		}
		settle(v)
	}
	for _, m := range again {
		settle(<-try(root, []mutant{m}))
	}
	fmt.Fprintf(w, "mutants: %d killed; %d at the second try or not at all, %d not killed\n", len(list)-failed, len(again), failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", failed, len(list))
	}
	return nil
}

// try tries mutants, those of four test packages at a time: a test that fails often waits for a
// condition first. The largest package goes first.
func try(root string, list []mutant) <-chan verdict {
	verdicts := make(chan verdict, len(list))
	groups := map[string][]change{}
	for _, m := range list {
		c, err := m.find(root)
		if err != nil {
			verdicts <- verdict{m, err}
			continue
		}
		c.number = strconv.Itoa(len(groups[m.pkg()]))
		groups[m.pkg()] = append(groups[m.pkg()], c)
	}
	next := make(chan string, len(groups))
	for _, pkg := range slices.SortedFunc(maps.Keys(groups), func(a, b string) int { return len(groups[b]) - len(groups[a]) }) {
		next <- pkg
	}
	close(next)
	go func() {
		defer close(verdicts)
		var workers sync.WaitGroup
		for range 4 {
			workers.Go(func() {
				for pkg := range next {
					tryPackage(root, pkg, groups[pkg], verdicts)
				}
			})
		}
		workers.Wait()
	}()
	return verdicts
}

// tryPackage tries the mutants that the tests of one package judge. They share a binary, as a build
// takes seconds of processor time and most tests take hundredths.
func tryPackage(root, pkg string, list []change, verdicts chan<- verdict) {
	tmp, err := os.MkdirTemp("", "mutants")
	defer os.RemoveAll(tmp)
	b, broken := build(tmp, root, pkg, weave(list))
	err = errors.Join(err, broken)
	usual := map[string]time.Duration{}
	for _, c := range list {
		if err != nil {
			verdicts <- verdict{c.mutant, err}
			continue
		}
		verdicts <- verdict{c.mutant, b.kills(c.test, c.number, usual)}
	}
}

// kills runs a test without a mutant and with one: only a test that passes on the real code proves
// anything when it fails. It must have run, too: if it cannot be started, that is no failure.
func (b binary) kills(test, number string, usual map[string]time.Duration) error {
	if usual[test] == 0 {
		start := time.Now()
		output, err := b.run(test, "", 4*patience)
		switch {
		case err != nil:
			return fmt.Errorf("%s does not pass on the real code either: %w\n%s", test, err, output)
		case !strings.Contains(output, "--- PASS: "+test+" "):
			return fmt.Errorf("there is no %s in %s, or it was skipped", test, b.pkg)
		}
		usual[test] = time.Since(start)
	}
	_, err := b.run(test, number, 4*usual[test]+patience)
	switch exit := new(exec.ExitError); {
	case err == nil:
		return errors.New("survived: no behaviour that this test checks depends on the changed code")
	case !errors.As(err, &exit):
		return fmt.Errorf("the test did not run to its end: %w", err)
	}
	return nil
}
