package main

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// full returns the error of a full disk or of a pipe without a reader.
type full struct{ err error }

func (f full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: f.err}
}

var errFull = errors.New("no space left on device")

func TestOutputThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	for _, command := range []string{
		"", "help", "help laws", "help sim run", "--help", "sim --help", "--version", "schema", "check internal/config/testdata/good/small.yaml",
		"sim run testdata/tiny.yaml --law fixed", "sim run testdata/tiny.yaml --law fixed --every 1s --json",
		"demo", "demo bulkhead",
	} {
		t.Run(command, func(t *testing.T) {
			for _, test := range []struct {
				why    error
				status int
				said   string
			}{
				{errFull, statusFailed, "weir: the output is not complete: write /dev/stdout: no space left on device\n"},
				{syscall.EPIPE, 0, ""},
			} {
				var stderr bytes.Buffer
				err := run(t.Context(), strings.Fields(command), full{test.why}, &stderr)
				if status := exitStatus(err, &stderr); status != test.status || stderr.String() != test.said {
					t.Errorf("%v: status %d, %q", test.why, status, &stderr)
				}
			}
		})
	}
}

// A proxy keeps serving even if its output cannot be written.
func TestUnwatchedOutput(t *testing.T) {
	out := watchedOutput{full{errFull}, func(error) { t.Error("the command would end") }}
	if _, err := (streams{out: out}).unwatched().out.Write([]byte("x")); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

// A table that is wider than the screen continues below, with the left columns repeated.
func TestTableFitsTheScreen(t *testing.T) {
	var wide table
	wide.left = 1
	wide.row("law", "mean %", strings.Repeat("a", 32), strings.Repeat("b", 33), "± c", strings.Repeat("d", 90), "e")
	wide.row("little", "9.5", "1", "2", "3", "4", "")
	var out strings.Builder
	must.Do(t, wide.write(&out))
	want := "law     mean %  " + strings.Repeat("a", 32) + "\n" +
		"little     9.5  " + strings.Repeat(" ", 31) + "1\n" +
		"\n" +
		"law     " + strings.Repeat("b", 33) + "  ± c\n" +
		"little  " + strings.Repeat(" ", 32) + "2    3\n" +
		"\n" +
		"law     " + strings.Repeat("d", 90) + "\n" +
		"little  " + strings.Repeat(" ", 89) + "4\n" +
		"\n" +
		"law     e\n" +
		"little\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}
