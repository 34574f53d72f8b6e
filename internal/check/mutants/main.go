// Command mutants breaks the code on purpose, one small change at a time, and
// checks that the test named for the change goes red. A mutant that survives
// is a behaviour that no test holds.
//
//	go run ./internal/check/mutants         all mutants of the list
//	go run ./internal/check/mutants NAME... those whose name contains a NAME
//
// It never touches the working tree: the go command is told to read the
// changed file in place of the real one (its -overlay flag).
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(names []string) error {
	gowork, err := exec.Command("go", "env", "GOWORK").Output()
	if err != nil {
		return err
	}
	root := filepath.Dir(strings.TrimSpace(string(gowork)))

	var chosen []mutant
	for _, m := range mutants {
		if matches(m.name, names) {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return fmt.Errorf("no mutant is named like %q", names)
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

// judge tries all mutants, a few at a time, and prints a line for each, in the
// order of the list. It is an error if one of them is not killed.
func judge(root string, list []mutant) error {
	const atOnce = 2 // each is a build and a test run, which have threads of their own
	verdicts := make([]chan error, len(list))
	turn := make(chan struct{}, atOnce)
	var healthy sync.Map // of func() error by package and test
	for i, m := range list {
		verdicts[i] = make(chan error, 1)
		go func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			check, _ := healthy.LoadOrStore(m.pkg()+" "+m.test, sync.OnceValue(func() error { return m.passesUnchanged(root) }))
			err := check.(func() error)()
			if err == nil {
				err = m.isKilled(root)
			}
			verdicts[i] <- err
		}()
	}
	failed := 0
	for i, m := range list {
		if err := <-verdicts[i]; err != nil {
			failed++
			fmt.Printf("FAIL    %s: %v\n", m, err)
		} else {
			fmt.Printf("killed  %s\n", m)
		}
	}
	fmt.Printf("mutants: %d killed, %d not\n", len(list)-failed, failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", failed, len(list))
	}
	return nil
}
