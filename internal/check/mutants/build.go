package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// selector is the environment variable with the number of the mutant that a binary activates, and
// atWork the variable of each changed package that holds it.
const (
	selector = "MUTANT"
	atWork   = "mutantAtWork"
)

// weave puts mutants into their packages, so that all of them take one build: a changed function
// begins with the changed copies of its body, each in an `if` that only its mutant enters. It
// returns the files that differ, by their names from the root, and the mutants in them. Mutants
// outside of functions are not.
func weave(root string, list []mutant) (files map[string]string, woven map[int]bool) {
	files, woven = map[string]string{}, map[int]bool{}
	copies := map[string]map[int]string{} // by file, and by where a body begins
	for i, m := range list {
		at, err := m.find(root)
		if err != nil {
			continue
		}
		body, name := bodyOf(at)
		if body.to == 0 {
			continue
		}
		if copies[m.file] == nil {
			copies[m.file] = map[int]string{}
			files[m.file] = at.text
			files[path.Join(path.Dir(m.file), "mutant_at_work.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", name, atWork, selector)
		}
		copies[m.file][body.from] += fmt.Sprintf("\nif %s == %q {%s\n%s\n}\n", atWork, strconv.Itoa(i), at.changed(body.from, body.to, m.new), body.end)
		woven[i] = true
	}
	for file, of := range copies {
		for _, from := range slices.Backward(slices.Sorted(maps.Keys(of))) {
			files[file] = files[file][:from] + of[from] + files[file][from:]
		}
	}
	return files, woven
}

// A span is the inside of the body of a function.
type span struct {
	from, to int
	end      string // a copy of the body has to end with it
}

// bodyOf returns the body of the declared function that holds a place, and the name of the package.
// The body is empty without one, and if a copy of it would not compile, as with a label.
func bodyOf(at place) (body span, pkg string) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "", at.text, parser.SkipObjectResolution)
	if err != nil {
		return span{}, ""
	}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		from, to := fset.Position(f.Body.Lbrace).Offset+1, fset.Position(f.Body.Rbrace).Offset
		if from > at.from || to < at.to {
			continue
		}
		body = span{from: from, to: to}
		if f.Type.Results == nil {
			body.end = "return"
		}
		for n := range ast.Preorder(f.Body) {
			if _, ok := n.(*ast.LabeledStmt); ok {
				return span{}, ""
			}
		}
	}
	return body, file.Name.Name
}

// A binary is a compiled test package.
type binary struct{ root, pkg, file string }

// build compiles the tests of a package with changed files, by their names from the root.
func build(tmp, root, pkg string, files map[string]string) (binary, error) {
	tmp, err := os.MkdirTemp(tmp, "build")
	if err != nil {
		return binary{}, err
	}
	b := binary{root, pkg, filepath.Join(tmp, "test")}
	replace := map[string]string{}
	for name, text := range files {
		changed := filepath.Join(tmp, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
			return b, err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = changed
	}
	overlay := filepath.Join(tmp, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err := errors.Join(err, os.WriteFile(overlay, text, 0o600)); err != nil {
		return b, err
	}
	cmd := exec.Command("go", "test", "-c", "-o", b.file, "-overlay="+overlay, "-vet=off", pkg)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("does not compile: %w\n%s", err, out)
	}
	return b, nil
}

// run runs one test as `go test` does, with the mutant of that number active, or none. It sets the
// environment of the gate: long tests run too, properties are tried ten times as often as usual,
// and a failure leaves no file in the working tree and is not shrunk, which takes up to half a
// minute.
func (b binary) run(test, mutant string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout) // if the test does not end itself
	defer cancel()
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, b.file, "-test.v", "-test.paniconexit0", "-test.timeout="+timeout.String(), "-test.run="+pattern)
	cmd.Dir = filepath.Join(b.root, filepath.FromSlash(b.pkg))
	cmd.Env = append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s", selector+"="+mutant)
	cmd.WaitDelay = time.Second // for processes that the test left behind
	output, err := cmd.CombinedOutput()
	if err != nil && (ctx.Err() != nil || strings.Contains(string(output), "panic: test timed out after ")) {
		err = errHung
	}
	return string(output), err
}
