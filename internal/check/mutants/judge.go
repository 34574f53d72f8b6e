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

const (
	// patience is how long a test may take, besides four times its usual time. It is more than the
	// 20 s for which tests with servers wait for a condition, so that they fail by themselves.
	patience = 30 * time.Second
	// hangPatience is the patience with a test that is expected to hang.
	hangPatience = 10 * time.Second
)

var (
	errSurvived = errors.New("survived: no behaviour that this test checks depends on the changed code")
	errHung     = errors.New("timed out: let the test fail by itself, or give the list the reason why it hangs")
)

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
	groups := map[string][]mutant{}
	for _, m := range list {
		groups[m.pkg()] = append(groups[m.pkg()], m)
	}
	next, verdicts := make(chan string, len(groups)), make(chan verdict, len(list))
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
// takes seconds of processor time and most tests take hundredths. A mutant outside of functions
// gets a binary of its own, and each if the shared one does not compile.
func tryPackage(root, pkg string, list []mutant, verdicts chan<- verdict) {
	tmp, err := os.MkdirTemp("", "mutants")
	defer os.RemoveAll(tmp)
	files, woven := weave(root, list)
	shared, broken := build(tmp, root, pkg, files)
	if broken != nil {
		woven = nil
		shared, broken = build(tmp, root, pkg, nil)
	}
	usual := map[string]time.Duration{}
	for i, m := range list {
		if err := errors.Join(err, broken); err != nil {
			verdicts <- verdict{m, err}
			continue
		}
		verdicts <- verdict{m, tryOne(tmp, shared, m, i, woven[i], usual)}
	}
}

// tryOne tries a mutant with the shared binary, or without it if it is not woven in.
func tryOne(tmp string, shared binary, m mutant, number int, woven bool, usual map[string]time.Duration) error {
	at, err := m.find(shared.root)
	if err != nil {
		return err
	}
	if m.new == m.old {
		return errors.New("changes nothing: its new code is the old")
	}
	if err := shared.passes(m.test, usual); err != nil {
		return err
	}
	b := shared
	if !woven {
		if b, err = build(tmp, b.root, b.pkg, map[string]string{m.file: at.changed(0, len(at.text), m.new)}); err != nil {
			return err
		}
	}
	most := patience
	if m.hangs != "" {
		most = hangPatience
	}
	err = b.kills(m.test, strconv.Itoa(number), 4*usual[m.test]+most)
	if m.hangs != "" && errors.Is(err, errHung) {
		return nil
	}
	return err
}

// passes runs a test without a mutant, and notes its usual time: only a test that passes there
// proves anything when it fails elsewhere.
func (b binary) passes(test string, usual map[string]time.Duration) error {
	if usual[test] > 0 {
		return nil
	}
	start := time.Now()
	output, err := b.run(test, "", 4*patience)
	switch {
	case err != nil:
		return fmt.Errorf("%s fails on the real code as well\n%s", test, output)
	case !strings.Contains(output, "--- PASS: "+test+" "):
		return fmt.Errorf("there is no %s in %s, or it was skipped", test, b.pkg)
	}
	usual[test] = time.Since(start)
	return nil
}

// kills runs a test with a mutant. Only a test that ends with a failure kills it: one that could
// not be started proves nothing, and one that hangs less than a failure.
func (b binary) kills(test, mutant string, timeout time.Duration) error {
	_, err := b.run(test, mutant, timeout)
	switch exit := new(exec.ExitError); {
	case err == nil:
		return errSurvived
	case errors.Is(err, errHung):
		return err
	case !errors.As(err, &exit):
		return fmt.Errorf("the test did not run to its end: %w", err)
	}
	return nil
}
