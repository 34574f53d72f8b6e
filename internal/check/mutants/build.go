package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A change is a mutant in the code.
type change struct {
	mutant
	number string // activates it
	text   string // of the whole file
	pkg    string // the name of the package of the file
	begin  int    // of the body of the function
	body   string // changed
}

// find finds the function that a mutant changes.
func (m mutant) find(root string) (change, error) {
	read, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file))) // a file that is gone has no code
	text := string(read)
	switch n := strings.Count(text, m.old); {
	case n != 1:
		return change{}, fmt.Errorf("its old code occurs %d times in %s, want once: adapt it to the code", n, m.file)
	case m.new == m.old:
		return change{}, errors.New("changes nothing: its new code is the old")
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, m.file, text, parser.SkipObjectResolution)
	if err != nil {
		return change{}, err
	}
	from := strings.Index(text, m.old)
	to := from + len(m.old)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin, end := fset.Position(f.Body.Lbrace).Offset+1, fset.Position(f.Body.Rbrace).Offset
		if begin > from || end < to {
			continue
		}
		body := text[begin:from] + m.new + text[to:end]
		if f.Type.Results == nil {
			body += "\nreturn"
		}
		return change{mutant: m, text: text, pkg: file.Name.Name, begin: begin, body: body}, nil
	}
	return change{}, errors.New("its old code is not inside of a function: change the code that uses it")
}

// selector is the environment variable with the number of the mutant that a binary activates, and
// atWork the variable of each changed package that holds it.
const (
	selector = "MUTANT"
	atWork   = "mutantAtWork"
)

// weave puts changes into their packages, so that all of them take one build: a function begins
// with the changed copies of its body, each in an `if` that only its mutant enters. It returns the
// files that differ, by their names from the root.
func weave(list []change) map[string]string {
	files := map[string]string{}
	fromTheEnd := slices.SortedFunc(slices.Values(list), func(a, b change) int { return b.begin - a.begin })
	for _, c := range fromTheEnd {
		if files[c.file] == "" {
			files[c.file] = c.text
			files[path.Join(path.Dir(c.file), "mutant_at_work.go")] = fmt.Sprintf("package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", c.pkg, atWork, selector)
		}
		text := files[c.file]
		files[c.file] = text[:c.begin] + fmt.Sprintf("\nif %s == %q {%s\n}\n", atWork, c.number, c.body) + text[c.begin:]
	}
	return files
}

// A binary is a compiled test package.
type binary struct{ root, pkg, file string }

// build compiles the tests of a package with changed files, by their names from the root.
func build(tmp, root, pkg string, files map[string]string) (binary, error) {
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
	cmd := exec.Command("go", "test", "-c", "-o", b.file, "-overlay="+overlay, "-vet=off", "-ldflags=-w", pkg) // for no debugger
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return b, fmt.Errorf("does not compile, or another mutant of %s does not: %w\n%s", pkg, err, out)
	}
	return b, nil
}

// run runs one test as `go test` does, with the mutant of that number active, or none. It sets the
// environment of the gate: long tests run too, properties are tried ten times as often as usual,
// and a failure leaves no file in the working tree and is not shrunk, which takes up to half a
// minute.
func (b binary) run(test, number string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout) // if the test does not end itself
	defer cancel()
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, b.file, "-test.v", "-test.paniconexit0", "-test.timeout="+timeout.String(), "-test.run="+pattern)
	cmd.Dir = filepath.Join(b.root, filepath.FromSlash(b.pkg))
	cmd.Env = append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s", selector+"="+number)
	cmd.WaitDelay = time.Second // for processes that the test left behind
	output, err := cmd.CombinedOutput()
	return string(output), err
}
