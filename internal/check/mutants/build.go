package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"slices"
	"strconv"
	"strings"
)

// atWork is the variable of each changed package that has the name of the mutant that a binary
// activates, and the variable of the environment that it comes from.
const atWork = "mutantAtWork"

// weave puts mutants into their packages, so that all of them take one build. It returns the texts
// of the changed files.
func weave(list []mutant) (changed map[string]string, err error) {
	ofFile := map[string][]mutant{}
	for _, m := range list {
		ofFile[m.file] = append(ofFile[m.file], m)
	}
	changed = map[string]string{}
	for file, mutants := range ofFile {
		err = errors.Join(err, weaveFile(changed, file, mutants))
	}
	return changed, err
}

// weaveFile inserts a changed copy of the body of a function at its beginning for each mutant, in
// an `if` that only this mutant enters. For an error of the compiler in the copy, the file is the
// name of the mutant.
func weaveFile(changed map[string]string, name string, mutants []mutant) error {
	read, err := os.ReadFile(name)
	file, wrong := parser.ParseFile(token.NewFileSet(), name, read, parser.SkipObjectResolution)
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	text := string(read)
	found := map[mutant]int{}
	for _, d := range slices.Backward(file.Decls) { // the places of the others stay
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := f.Body.Lbrace, f.Body.Rbrace-1 // positions begin with 1
		body := text[begin:end]
		for _, m := range mutants {
			n := strings.Count(body, m.old)
			if found[m] += n; n == 0 {
				continue
			}
			broken := strings.Replace(body, m.old, m.new, 1)
			if f.Type.Results == nil {
				broken += "\nreturn"
			}
			text = text[:begin] + fmt.Sprintf("\nif %s == %q {\n//line %[2]s:1\n%s\n}\n", atWork, m.name, broken) + text[begin:]
		}
	}
	for _, m := range mutants {
		if n := found[m]; n != 1 {
			err = errors.Join(err, fmt.Errorf("%s: its old code occurs %d times in functions, want once: adapt it to the code", m, n))
		}
	}
	changed[name] = text
	changed[path.Join(path.Dir(name), "mutant_at_work.go")] = fmt.Sprintf(
		"package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%[2]q)\n", file.Name.Name, atWork)
	return err
}

// build compiles the tests that judge the mutants, and runs those on the real code. The go command
// reads the changed files in place of the real ones. It gives each binary to a shell, which keeps
// it and its output in a folder of tmp that is named as the folder of its package. The output of a
// binary that is red, whatever its tests say, is not kept.
func build(tmp string, list []mutant, atOnce int) error {
	changed, err := weave(list)
	replace := map[string]string{}
	for name, text := range changed {
		replace[name] = fmt.Sprintf("%s/%d.go", tmp, len(replace))
		err = errors.Join(err, os.WriteFile(replace[name], []byte(text), 0o600))
	}
	overlay := tmp + "/overlay.json"
	text, wrong := json.Marshal(map[string]any{"Replace": replace})
	if err = errors.Join(err, wrong, os.WriteFile(overlay, text, 0o600)); err != nil {
		return err
	}
	keep := `sh -c 'to="` + tmp + `$PWD" && mkdir -p "$to" && mv "$0" "$to/tests" || exit
		"$to/tests" "$@" >"$to/plain" 2>&1 || grep -qe "--- FAIL: " "$to/plain" || rm "$to/plain"'`
	var packages, tests []string
	for _, m := range list {
		test, _, _ := strings.Cut(m.test, "/")
		packages, tests = append(packages, m.pkg()), append(tests, test)
	}
	args := []string{"test", "-exec", keep, "-p", strconv.Itoa(atOnce), "-overlay", overlay, "-vet=off", "-timeout=1h", "-v", "-shuffle=on", "-run", pattern(tests...)}
	cmd := exec.Command("go", append(args, packages...)...)
	cmd.Env = environment("")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("a mutant does not compile: %w\n%s", err, out)
	}
	return nil
}
