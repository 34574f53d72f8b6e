package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// A mutant is one change that a test must notice.
type mutant struct {
	name string // the broken behavior, in a few words
	file string // its package, from the root of the repository, or a file of it: find says when
	old  string // code that occurs there once, in which $x is any identifier
	new  string // the code in its place
	test string // the test that fails, as in "TestX" or "TestX/case"
	in   string // the package of the test, as in "./internal/check"; default: the package of file

	hangs string // why the test can notice it only by hanging; default: it fails
}

func (m mutant) String() string { return fmt.Sprintf("%s (%s, %s)", m.name, m.file, m.test) }

func (m mutant) pkg() string {
	if m.in != "" {
		return m.in
	}
	dir := m.file
	if path.Ext(dir) == ".go" {
		dir = path.Dir(dir)
	}
	if dir == "." {
		return dir
	}
	return "./" + dir
}

// judgeAlone builds the code with this change only. A mutant that is not killed is an error.
func (m mutant) judgeAlone(root string) error {
	if err := m.passesUnchanged(root); err != nil {
		return err
	}
	return m.isKilled(root, patience)
}

// passesUnchanged runs the named test on the real code: only if the test passes there does
// its failure elsewhere count.
func (m mutant) passesUnchanged(root string) error {
	output, err := m.runTest(root, patience, "-v")
	switch {
	case err != nil:
		return fmt.Errorf("%s fails on the real code as well\n%s", m.test, output)
	case !strings.Contains(output, "--- PASS: "+m.test+" "):
		return fmt.Errorf("there is no %s in %s, or it was skipped", m.test, m.pkg())
	}
	return nil
}

// isKilled runs the named test on the changed code.
func (m mutant) isKilled(root string, timeout time.Duration) error {
	at, err := m.find(root)
	if err != nil {
		return err
	}
	text := at.changed(m.new)
	if text == at.text {
		return errors.New("changes nothing: its new code is the old")
	}

	tmp, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	changed := filepath.Join(tmp, "changed.go")
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return err
	}
	overlay, err := overlay(tmp, map[string]string{filepath.Join(root, filepath.FromSlash(at.file)): changed})
	if err != nil {
		return err
	}

	output, err := m.runTest(root, timeout, overlay)
	switch {
	case err == nil:
		return errSurvived
	case strings.Contains(output, timedOut):
		return errHung
	case strings.Contains(output, "[build failed]"), strings.Contains(output, "[setup failed]"):
		return fmt.Errorf("does not compile\n%s", output)
	}
	return nil
}

// runTest builds and runs the named test and returns its output.
func (m mutant) runTest(root string, timeout time.Duration, flag string) (string, error) {
	cmd := exec.Command("go", "test", flag, "-count=1", "-vet=off", "-timeout="+timeout.String(), "-run="+pattern(m.test), m.pkg())
	cmd.Dir = root
	cmd.Env = environment()
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// patience is the longest duration of a test. It is more than the 20 s that tests with
// servers wait for a condition, so that they fail by themselves.
const patience = 30 * time.Second

// lastPatience is the patience of the second try: on a busy machine a test may fail later
// than patience allows.
const lastPatience = 4 * patience

var (
	errSurvived = errors.New("survived: no behaviour that this test checks depends on the changed code")
	errHung     = errors.New("timed out: let the test fail by itself, or let the list say why it hangs")
)

// timedOut is printed by a test binary that ends itself by its -timeout.
const timedOut = "panic: test timed out after "

// overlay writes the replacements of files for the go command, and returns its flag.
func overlay(dir string, replace map[string]string) (flag string, err error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	file := filepath.Join(dir, "overlay.json")
	return "-overlay=" + file, errors.Join(err, os.WriteFile(file, text, 0o600))
}

func pattern(test string) string { return "^" + strings.ReplaceAll(test, "/", "$/^") + "$" }

// environment returns the environment of a test: long tests run too, properties are tried
// ten times as often as usual, and a failure leaves no file in the working tree and is not
// shrunk, which takes up to half a minute.
func environment() []string {
	return append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s")
}
