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

// judge tries all mutants and prints the verdict on each. A mutant that is not killed is tried a
// second time, when nothing else runs: on a busy machine a test may fail late. It is an error if
// one is not killed then.
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
	again := try(w, root, tests, list, 4, "again ") // a test that fails often waits for a condition first
	failed := try(w, root, tests, again, 1, "FAIL  ")
	fmt.Fprintf(w, "mutants: %d killed; %d at the second try or not at all, %d not killed\n", len(list)-len(failed), len(again), len(failed))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", len(failed), len(list))
	}
	return nil
}

// try tries mutants, those of some tests at a time, and returns the ones that are not killed. It
// runs a test without a mutant first: only a test that passes on the real code proves anything when
// it fails.
func try(w io.Writer, root string, tests map[string]string, list []mutant, atOnce int, verdict string) (alive []mutant) {
	groups := map[[2]string][]mutant{} // by package and test
	for _, m := range list {
		of := [2]string{m.pkg(), m.test}
		groups[of] = append(groups[of], m)
	}
	var mu sync.Mutex // guards w and alive
	turns := make(chan struct{}, atOnce)
	var trials sync.WaitGroup
	for of, mutants := range groups {
		trials.Go(func() {
			turns <- struct{}{}
			defer func() { <-turns }()
			start := time.Now()
			passes := mutants[0].passes(root, tests[of[0]])
			timeout := 4*time.Since(start) + patience
			for _, m := range mutants {
				err := passes
				if err == nil {
					err = m.kill(root, tests[of[0]], timeout)
				}
				mu.Lock()
				if err == nil {
					fmt.Fprintf(w, "killed  %s\n", m)
				} else {
					fmt.Fprintf(w, "%s  %s: %v\n", verdict, m, err)
					alive = append(alive, m)
				}
				mu.Unlock()
			}
		})
	}
	trials.Wait()
	return alive
}

// passes runs the test on the real code.
func (m mutant) passes(root, binary string) error {
	output, err := m.run(root, binary, "", 4*patience)
	if err != nil {
		return fmt.Errorf("%s does not pass on the real code either: %w\n%s", m.test, err, output)
	}
	if !strings.Contains(output, "--- PASS: "+m.test+" ") {
		return fmt.Errorf("there is no %s in %s, or it was skipped", m.test, m.pkg())
	}
	return nil
}

// kill runs the test with the mutant. It must have run, too: if it cannot be started, that is no
// failure.
func (m mutant) kill(root, binary string, timeout time.Duration) error {
	_, err := m.run(root, binary, m.name, timeout)
	switch exit := new(exec.ExitError); {
	case err == nil:
		return errors.New("survived: no behaviour that this test checks depends on the changed code")
	case !errors.As(err, &exit):
		return fmt.Errorf("the test did not run to its end: %w", err)
	}
	return nil
}
