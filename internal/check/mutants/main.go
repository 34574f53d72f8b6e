// Command mutants breaks the code on purpose, one small change at a time, and checks that the test
// named for the change goes red. A mutant that survives shows a behaviour that no test checks.
//
//	scripts/all go run ./internal/check/mutants             all mutants of the list
//	scripts/all go run ./internal/check/mutants pace        mutants with "pace" in their name
//	scripts/all go run ./internal/check/mutants config.go   mutants of a file
//
// It never touches the working tree: the go command reads changed files in place of the real files
// (its -overlay flag). All mutants are in one build, each behind an if. The command has to run in
// the root of the repository.
package main

import (
	"cmp"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
)

// A mutant is one change that a test must notice.
type mutant struct {
	name string // the fault, in a few words
	file string // from the root of the repository
	old  string // code that occurs once in the functions of the file
	new  string // the code that replaces it
	test string // the test that goes red, as in "TestX" or "TestX/case"
	in   string // the folder of the test, as in "internal/check"; default: the folder of the file
}

func (m mutant) String() string { return fmt.Sprintf("%s (%s, %s)", m.name, m.file, m.test) }

// pkg is the package of the test.
func (m mutant) pkg() string { return "./" + cmp.Or(m.in, path.Dir(m.file)) }

func main() {
	if err := judge(os.Stdout, chosen(os.Args[1:])); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// chosen returns the mutants that have one of the words in their name, or as the end of their file.
func chosen(words []string) []mutant {
	if len(words) == 0 {
		return mutants
	}
	return slices.DeleteFunc(slices.Clone(mutants), func(m mutant) bool {
		return !slices.ContainsFunc(words, func(word string) bool {
			return strings.Contains(m.name, word) || strings.HasSuffix("/"+m.file, "/"+word)
		})
	})
}
