package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
)

// patience is the time that a test may take, besides four times its usual time. Tests that wait for
// a condition give up five seconds earlier (must.Happen), and fail by themselves. A test that still
// hangs after that time is red as well.
var patience = 10 * time.Second

// judge tries all mutants and prints the verdict on each. A mutant that is not killed is tried a
// second time, when nothing else runs: on a busy machine a test may fail late. A mutant that
// survives the second trial is an error.
func judge(w io.Writer, list []mutant) error {
	again, err := try(w, list, 8, "again ") // a test that fails often waits for a condition first
	if err != nil {
		return err
	}
	failed, err := try(w, again, 1, "FAIL  ")
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "mutants: %d killed; %d at the second try or not at all, %d not killed\n", len(list)-len(failed), len(again), len(failed))
	if len(failed) > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", len(failed), len(list))
	}
	return nil
}

// try tries mutants, at most atOnce at a time, and returns the mutants that are not killed.
func try(w io.Writer, list []mutant, atOnce int, verdict string) (alive []mutant, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	if err := build(tmp, list, atOnce); err != nil {
		return nil, err
	}
	var mu sync.Mutex // guards w and alive
	turns := make(chan struct{}, atOnce)
	var all sync.WaitGroup
	for _, m := range list {
		turns <- struct{}{}
		all.Go(func() {
			err := m.kill(tmp)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				fmt.Fprintf(w, "killed  %s\n", m)
			} else {
				fmt.Fprintf(w, "%s  %s: %v\n", verdict, m, err)
				alive = append(alive, m)
			}
			<-turns
		})
	}
	all.Wait()
	return alive, nil
}

// kill runs the test with the mutant. The test must have passed without: a test that is red anyway,
// or cannot start, does not kill a mutant.
func (m mutant) kill(tmp string) error {
	dir, err := filepath.Abs(m.pkg())
	if err != nil {
		return err
	}
	plain, _ := os.ReadFile(filepath.Join(tmp, dir, "plain"))
	passed := regexp.MustCompile(`--- PASS: ` + regexp.QuoteMeta(m.test) + ` \((.*)\)`).FindSubmatch(plain)
	if passed == nil {
		return fmt.Errorf("%s does not pass on the real code of %s, or is skipped", m.test, m.pkg())
	}
	took, err := time.ParseDuration(string(passed[1]))
	if err != nil {
		return err
	}
	timeout := 4*took + patience
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout) // if the binary does not end itself
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(tmp, dir, "tests"), "-test.paniconexit0", "-test.timeout="+timeout.String(), "-test.run="+pattern(m.test))
	cmd.Dir = dir
	cmd.Env = environment(m.name)
	cmd.WaitDelay = time.Second // for processes that the test left behind
	switch err, exit := cmd.Run(), new(exec.ExitError); {
	case err == nil:
		return errors.New("survived: no behaviour that this test checks depends on the changed code")
	case !errors.As(err, &exit):
		return fmt.Errorf("the test did not run to its end: %w", err)
	}
	return nil
}

// pattern matches the names of tests.
func pattern(tests ...string) string {
	return "^(" + strings.ReplaceAll(strings.Join(tests, "|"), "/", ")$/^(") + ")$"
}

// environment is that of the gate, with the mutant of that name active, or no mutant for "": long
// tests run too, properties are tried ten times as often as usual, and a failure leaves no file in
// the working tree and is not shrunk, which takes up to half a minute.
func environment(active string) []string {
	return append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s", atWork+"="+active)
}
