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
	name string // what is broken, in a few words
	file string // its package, from the root of the repository, or a file of it: find says when
	old  string // code that stands there once, in which $x is any identifier
	new  string // takes its place
	test string // the test that goes red, as in "TestX" or "TestX/case"
	in   string // the package of the test, as in "./internal/check"; default: that of the file
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
	return m.isKilled(root)
}

// passesUnchanged runs the named test on the real code: only a test that passes
// there says something when it fails elsewhere.
func (m mutant) passesUnchanged(root string) error {
	output, err := m.runTest(root, "-v")
	switch {
	case err != nil:
		return fmt.Errorf("%s fails on the real code as well\n%s", m.test, output)
	case !strings.Contains(output, "--- PASS: "+m.test+" "):
		return fmt.Errorf("there is no %s in %s, or it was skipped", m.test, m.pkg())
	}
	return nil
}

// isKilled runs the named test on the changed code.
func (m mutant) isKilled(root string) error {
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

	output, err := m.runTest(root, overlay)
	switch {
	case err == nil:
		return errSurvived
	case strings.Contains(output, "[build failed]"), strings.Contains(output, "[setup failed]"):
		return fmt.Errorf("does not compile\n%s", output)
	}
	return nil
}

// runTest builds and runs the named test and returns what it printed.
func (m mutant) runTest(root, flag string) (string, error) {
	cmd := exec.Command("go", "test", flag, "-count=1", "-vet=off", "-timeout="+patience.String(), "-run="+pattern(m.test), m.pkg())
	cmd.Dir = root
	cmd.Env = environment()
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// patience is how long a test may take. A mutant may hang, and a test that takes long has no place in the list.
const patience = 30 * time.Second

var errSurvived = errors.New("survived: no behaviour that this test checks depends on the changed code")

// overlay writes what the go command is to read in place of other files, and returns its flag.
func overlay(dir string, replace map[string]string) (flag string, err error) {
	text, err := json.Marshal(map[string]any{"Replace": replace})
	file := filepath.Join(dir, "overlay.json")
	return "-overlay=" + file, errors.Join(err, os.WriteFile(file, text, 0o600))
}

func pattern(test string) string { return "^" + strings.ReplaceAll(test, "/", "$/^") + "$" }

// environment is that of a test: also those run that take long, properties are tried ten times as often as usual, and a
// failure leaves no file in the working tree and is not reduced to a short one, which takes up to half a minute.
func environment() []string {
	return append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s")
}
