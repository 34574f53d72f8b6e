// Command mutants breaks the code on purpose, one small change at a time, and checks that
// the named test of the change fails. A mutant that survives is a behavior that no test
// covers. A mutant whose test hangs is reported as such: the test must fail, unless the list
// has a reason.
//
//	scripts/all go run ./internal/check/mutants              all mutants of the list
//	scripts/all go run ./internal/check/mutants pace         mutants whose name contains "pace"; several words add up
//	scripts/all go run ./internal/check/mutants -since main  mutants of the files that differ from a revision
//
// It never touches the working tree: the go command reads changed files in place of the real
// ones (its -overlay flag). The mutants judged by the tests of a package are built into one
// binary, each behind an if.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	since := flag.String("since", "", "only the mutants of files that differ from this `revision`")
	flag.Parse()
	if err := run(*since, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(since string, names []string) error {
	gowork, err := exec.Command("go", "env", "GOWORK").Output()
	if err != nil {
		return err
	}
	root := filepath.Dir(strings.TrimSpace(string(gowork)))

	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool { return !matches(m.name, names) })
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant is named like %q", names)
	}
	if since != "" {
		files, err := differing(root, since)
		if err != nil {
			return err
		}
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !m.isAmong(root, files) })
	}
	return judge(root, chosen)
}

func matches(name string, parts []string) bool {
	for _, part := range parts {
		if strings.Contains(name, part) {
			return true
		}
	}
	return len(parts) == 0
}

// differing returns the files that differ from the revision, including untracked files.
func differing(root, revision string) (files []string, err error) {
	for _, args := range [][]string{{"diff", "--name-only", revision, "--"}, {"ls-files", "--others", "--exclude-standard"}} {
		list, err := exec.Command("git", append([]string{"-C", root}, args...)...).Output()
		if exit := new(exec.ExitError); errors.As(err, &exit) {
			return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		} else if err != nil {
			return nil, err
		}
		files = append(files, strings.Fields(string(list))...)
	}
	return files, nil
}

// isAmong reports whether a mutant changes one of the files, or can no longer be found,
// which judge then reports.
func (m mutant) isAmong(root string, files []string) bool {
	at, err := m.find(root)
	return err != nil || slices.Contains(files, at.file)
}
