package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A batch is the mutants judged by the tests of one package. They share a test binary:
// building one takes seconds of processor time, and most tests take hundredths.
type batch struct {
	pkg  string
	list []mutant
	from []int // index of each in the whole list
}

// batches groups mutants by the package of their tests, the largest batch first.
func batches(list []mutant) (all []batch) {
	for i, m := range list {
		at := slices.IndexFunc(all, func(b batch) bool { return b.pkg == m.pkg() })
		if at < 0 {
			at, all = len(all), append(all, batch{pkg: m.pkg()})
		}
		all[at].list, all[at].from = append(all[at].list, m), append(all[at].from, i)
	}
	slices.SortStableFunc(all, func(a, b batch) int { return len(b.list) - len(a.list) })
	return all
}

// judge reports on each mutant, as judgeAlone does. It leaves to judgeAlone the mutants that
// cannot be woven, a binary that does not compile, and tests that fail without a mutant.
func (b batch) judge(root string, report func(i int, err error)) {
	tmp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		for _, i := range b.from {
			report(i, err)
		}
		return
	}
	defer os.RemoveAll(tmp)

	t := testBinary{root: root, pkg: b.pkg, file: filepath.Join(tmp, "test")}
	woven, err := t.build(tmp, b.list)
	if err != nil {
		fmt.Fprintf(os.Stderr, "mutants: those of %s are built one by one: %v\n", b.pkg, err)
	}
	took := t.passing(b.list)
	for i, m := range b.list {
		name := strconv.Itoa(i)
		if usual, passes := took[m.test]; passes && woven[name] {
			report(b.from[i], t.kills(m, name, m.patience()+4*usual))
		} else {
			report(b.from[i], m.judgeAlone(root))
		}
	}
}

// hangs is the time after which a mutant that is expected to hang counts as hanging, so that
// no test waits for patience in vain.
const hangs = 10 * time.Second

// patience returns the longest duration of the test with this mutant, besides a multiple of
// its duration without.
func (m mutant) patience() time.Duration {
	if m.hangs != "" {
		return hangs
	}
	return patience
}

// A testBinary is a compiled test package with mutants in it.
type testBinary struct {
	root, pkg string
	file      string
}

// build compiles the binary and returns the mutants in it, by their number in the list.
func (t testBinary) build(tmp string, list []mutant) (woven map[string]bool, err error) {
	var changes []change
	for i, m := range list {
		if at, err := m.find(t.root); err == nil {
			changes = append(changes, change{strconv.Itoa(i), at, at.changed(m.new)})
		}
	}
	files, woven := weave(changes)
	replace := map[string]string{}
	for name, text := range files {
		changed := filepath.Join(tmp, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return nil, err
		}
		replace[filepath.Join(t.root, filepath.FromSlash(name))] = changed
	}
	overlay, err := overlay(tmp, replace)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "test", "-c", "-o", t.file, overlay, "-vet=off", t.pkg)
	cmd.Dir = t.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return woven, nil
}

// passing returns the tests that pass without a mutant, and their durations.
func (t testBinary) passing(list []mutant) map[string]time.Duration {
	took, tried := map[string]time.Duration{}, map[string]bool{}
	for _, m := range list {
		if tried[m.test] {
			continue
		}
		tried[m.test] = true
		start := time.Now()
		output, err := t.run(m.test, "", patience)
		if err == nil && strings.Contains(output, "--- PASS: "+m.test+" ") {
			took[m.test] = time.Since(start)
		}
	}
	return took
}

// kills runs the test with an active mutant. Only a failing test kills it: a test that could
// not be started is no evidence, and one that hangs is weaker evidence than a failure.
func (t testBinary) kills(m mutant, name string, timeout time.Duration) error {
	_, err := t.run(m.test, name, timeout)
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

// run runs one test as `go test` does, with the mutant of that name, if any.
func (t testBinary) run(test, mutant string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout) // if the test does not end itself
	defer cancel()
	cmd := exec.CommandContext(ctx, t.file, "-test.v", "-test.paniconexit0", "-test.timeout="+timeout.String(), "-test.run="+pattern(test))
	cmd.Dir = filepath.Join(t.root, filepath.FromSlash(t.pkg))
	cmd.Env = append(environment(), selector+"="+mutant)
	cmd.WaitDelay = time.Second // for child processes that it left behind
	output, err := cmd.CombinedOutput()
	if err != nil && (ctx.Err() != nil || strings.Contains(string(output), timedOut)) {
		return string(output), errHung
	}
	return string(output), err
}
