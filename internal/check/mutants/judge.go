package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// judge tries all mutants, two packages at a time, and prints each verdict. It is an error
// if one of them is not killed.
func judge(root string, list []mutant) error {
	const atOnce = 2 // a build and a test have threads of their own
	verdicts := make([]chan error, len(list))
	for i := range verdicts {
		verdicts[i] = make(chan error, 1)
	}
	next := make(chan batch)
	for range atOnce {
		go func() {
			for b := range next {
				b.judge(root, func(i int, err error) { verdicts[i] <- err })
			}
		}()
	}
	go func() {
		defer close(next)
		for _, b := range batches(list) {
			next <- b
		}
	}()
	return tell(os.Stdout, list, func(i int) error { return <-verdicts[i] }, func(m mutant) error { return m.isKilled(root, lastPatience) })
}

// tell prints a line for each mutant, in the order of the list, and the totals. A mutant
// that survived, or whose test hung, is tried again when nothing else runs: the first
// verdict may be due to chance, or to a busy machine.
func tell(w io.Writer, list []mutant, first func(i int) error, second func(mutant) error) error {
	var killed, late, hung, failed int
	var doubtful []mutant
	settle := func(m mutant, err error) {
		switch {
		case err == nil:
			killed++
			fmt.Fprintf(w, "killed  %s\n", m)
		case m.mayHang(err):
			hung++
			fmt.Fprintf(w, "hung    %s: as expected, for %s\n", m, m.hangs)
		default:
			failed++
			fmt.Fprintf(w, "FAIL    %s: %v\n", m, err)
		}
	}
	for i, m := range list {
		err := first(i)
		if !m.mayHang(err) && (errors.Is(err, errSurvived) || errors.Is(err, errHung)) {
			doubtful = append(doubtful, m)
			fmt.Fprintf(w, "again   %s: %v\n", m, err)
			continue
		}
		settle(m, err)
	}
	for _, m := range doubtful {
		err := second(m)
		if err == nil {
			late++
		}
		settle(m, err)
	}
	fmt.Fprintf(w, "mutants: %d killed, %d of them at the second try; %d timed out as expected; %d not killed\n", killed, late, hung, failed)
	if failed > 0 {
		return fmt.Errorf("%d of %d mutants were not killed", failed, len(list))
	}
	return nil
}

// mayHang reports whether a test hung and the list explains why it has to.
func (m mutant) mayHang(err error) bool { return m.hangs != "" && errors.Is(err, errHung) }
