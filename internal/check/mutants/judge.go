package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
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
	change
	err error
}

// judge tries all mutants and prints the verdict on each. A mutant that is not killed is tried a
// second time, when nothing else runs: on a busy machine a test may fail late. It is an error if
// one is not killed then.
func judge(w io.Writer, root string, list []mutant) error {
	changes, err := findAll(root, list)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	tests, err := build(tmp, root, changes)
	if err != nil {
		return err
	}
	var again []change
	for v := range try(tests, changes) {
		if v.err != nil {
			again = append(again, v.change)
			fmt.Fprintf(w, "again   %s: %v\n", v.mutant, v.err)
			continue
		}
		fmt.Fprintf(w, "killed  %s\n", v.mutant)
	}
	failed := 0
	for _, c := range again {
		if v := <-try(tests, []change{c}); v.err != nil {
			failed++
			fmt.Fprintf(w, "FAIL    %s: %v\n", v.mutant, v.err)
			continue
		}
		fmt.Fprintf(w, "killed  %s\n", c.mutant)
	}
	fmt.Fprintf(w, "mutants: %d killed; %d at the second try or not at all, %d not killed\n", len(list)-failed, len(again), failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", failed, len(list))
	}
	return nil
}

// try tries changes, those of four tests at a time: a test that fails often waits for a condition
// first.
func try(tests map[string]binary, list []change) <-chan verdict {
	type test struct{ pkg, name string }
	groups := map[test][]change{}
	for _, c := range list {
		of := test{c.pkg(), c.test}
		groups[of] = append(groups[of], c)
	}
	verdicts := make(chan verdict, len(list))
	turns := make(chan struct{}, 4)
	var trials sync.WaitGroup
	for of, changes := range groups {
		trials.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			tests[of.pkg].try(of.name, changes, verdicts)
		})
	}
	go func() { trials.Wait(); close(verdicts) }()
	return verdicts
}

// try runs a test without a mutant and with each: only a test that passes on the real code proves
// anything when it fails.
func (b binary) try(test string, list []change, verdicts chan<- verdict) {
	start := time.Now()
	output, err := b.run(test, 0, 4*patience)
	switch {
	case err != nil:
		err = fmt.Errorf("%s does not pass on the real code either: %w\n%s", test, err, output)
	case !strings.Contains(output, "--- PASS: "+test+" "):
		err = fmt.Errorf("there is no %s in %s, or it was skipped", test, b.pkg)
	}
	usual := time.Since(start)
	for _, c := range list {
		if err != nil {
			verdicts <- verdict{c, err}
			continue
		}
		verdicts <- verdict{c, b.kill(c, 4*usual+patience)}
	}
}

// kill runs the test with the change. It must have run, too: if it cannot be started, that is no
// failure.
func (b binary) kill(c change, timeout time.Duration) error {
	_, err := b.run(c.test, c.number, timeout)
	switch exit := new(exec.ExitError); {
	case err == nil:
		return errors.New("survived: no behaviour that this test checks depends on the changed code")
	case !errors.As(err, &exit):
		return fmt.Errorf("the test did not run to its end: %w", err)
	}
	return nil
}
