// Command mutants breaks the code on purpose, one small change at a time, and
// checks that the test named for the change goes red. A mutant that survives
// is a behaviour that no test holds. A test that hangs is no proof: it
// has to fail, unless the list has a reason.
//
//	scripts/all go run ./internal/check/mutants              all mutants of the list
//	scripts/all go run ./internal/check/mutants pace         those whose name contains "pace"; several words add up
//	scripts/all go run ./internal/check/mutants -since main  those of the files that differ from a revision
//
// It never touches the working tree: the go command reads changed files in
// place of the real ones (its -overlay flag). The mutants that the tests
// of a package judge are built into one binary, each behind an if.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// A mutant is one change that a test must notice.
type mutant struct {
	name string // the fault, in a few words
	file string // its package, from the root of the repository, or a file of it: see find
	old  string // code that occurs once
	new  string // takes its place
	test string // the test that goes red, as in "TestX" or "TestX/case"
	in   string // the package of the test, as in "./internal/check"; default: that of the file

	hangs string // why the test can notice it only by hanging; default: it fails
}

func (m mutant) String() string { return fmt.Sprintf("%s (%s, %s)", m.name, m.file, m.test) }

func main() {
	since := flag.String("since", "", "only the mutants of files that differ from this `revision`")
	flag.Parse()
	if err := run(*since, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(since string, words []string) error {
	gowork, err := exec.Command("go", "env", "GOWORK").Output()
	if err != nil {
		return err
	}
	root := filepath.Dir(strings.TrimSpace(string(gowork)))
	chosen := slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool {
		return len(words) > 0 && !slices.ContainsFunc(words, func(word string) bool { return strings.Contains(m.name, word) })
	})
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant is named like %q", words)
	}
	if since != "" {
		files, err := differing(root, since)
		if err != nil {
			return err
		}
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return !m.isAmong(root, files) })
	}
	return judge(os.Stdout, root, chosen)
}

// differing lists the files that differ from the revision, untracked ones included.
func differing(root, revision string) (files []string, err error) {
	for _, args := range [][]string{{"diff", "--name-only", revision, "--"}, {"ls-files", "--others", "--exclude-standard"}} {
		list, err := exec.Command("git", append([]string{"-C", root}, args...)...).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("git %s: %w: %s", args[0], err, list)
		}
		files = append(files, strings.Fields(string(list))...)
	}
	return files, nil
}

// isAmong reports whether a mutant changes one of the files, or has no place any more, which judge
// then reports.
func (m mutant) isAmong(root string, files []string) bool {
	at, err := m.find(root)
	return err != nil || slices.Contains(files, at.file)
}
