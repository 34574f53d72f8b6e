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
	if path.Ext(m.file) != ".go" {
		return "./" + m.file
	}
	return "./" + path.Dir(m.file)
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
	changed, overlay := filepath.Join(tmp, "changed.go"), filepath.Join(tmp, "overlay.json")
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, filepath.FromSlash(at.file)): changed}})
	if err != nil {
		return err
	}
	err = errors.Join(
		os.WriteFile(changed, []byte(text), 0o600),
		os.WriteFile(overlay, replace, 0o600))
	if err != nil {
		return err
	}

	output, err := m.runTest(root, "-overlay="+overlay)
	switch {
	case err == nil:
		return errors.New("survived: no behaviour that this test checks depends on the changed code")
	case strings.Contains(output, "[build failed]"), strings.Contains(output, "[setup failed]"):
		return fmt.Errorf("does not compile\n%s", output)
	}
	return nil
}

// runTest runs the named test and returns what it printed. A mutant may hang;
// its time is short because a test that takes long has no place in the list.
func (m mutant) runTest(root, flag string) (string, error) {
	pattern := "^" + strings.ReplaceAll(m.test, "/", "$/^") + "$"
	cmd := exec.Command("go", "test", flag, "-count=1", "-vet=off", "-timeout=30s", "-run="+pattern, m.pkg())
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "WEIR_TESTS=all", // also those that take long
		"RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000") // no files in the working tree; ten times the usual tries
	output, err := cmd.CombinedOutput()
	return string(output), err
}
