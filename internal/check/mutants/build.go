package main

import (
	"cmp"
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

// selector is the environment variable with the name of the mutant that a binary activates, and
// atWork is the variable of each changed package that holds this name.
const (
	selector = "MUTANT"
	atWork   = "mutantAtWork"
)

// An insertion is a mutant in the code of its file.
type insertion struct {
	file, text string
	clause     string // the name of its package
	at         int    // where the body of the function begins
	code       string
}

// find finds the function that a mutant changes. It inserts a changed copy of the body at the
// beginning, in an `if` that only this mutant enters. For an error of the compiler in the copy, the
// file is the name of the mutant.
func (m mutant) find(root string) (insertion, error) {
	read, _ := os.ReadFile(filepath.Join(root, filepath.FromSlash(m.file))) // a file that is gone has no code
	text := string(read)
	if n := strings.Count(text, m.old); n != 1 {
		return insertion{}, fmt.Errorf("its old code occurs %d times in %s, want once: adapt it to the code", n, m.file)
	}
	file, err := parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution)
	if err != nil {
		return insertion{}, err
	}
	from := strings.Index(text, m.old)
	to := from + len(m.old)
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil || int(f.Body.Lbrace) > from || int(f.Body.Rbrace) <= to { // positions begin with 1
			continue
		}
		begin, end := int(f.Body.Lbrace), int(f.Body.Rbrace)-1
		body := text[begin:from] + m.new + text[to:end]
		if f.Type.Results == nil {
			body += "\nreturn"
		}
		code := fmt.Sprintf("\nif %s == %q {\n//line %s:1\n%s\n}\n", atWork, m.name, m.name, body)
		return insertion{m.file, text, file.Name.Name, begin, code}, nil
	}
	return insertion{}, errors.New("its old code is not inside of a function: change the code that uses it")
}

// weave puts mutants into their packages, so that all of them take one build. It writes the changed
// files to tmp, with the overlay of the go command, whose name it returns.
func weave(tmp, root string, list []mutant) (overlay string, err error) {
	var all []insertion
	for _, m := range list {
		i, wrong := m.find(root)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", m, wrong))
		}
		all = append(all, i)
	}
	slices.SortFunc(all, func(a, b insertion) int { return b.at - a.at }) // the places of the others stay
	changed := map[string]string{}
	for _, i := range all {
		text := cmp.Or(changed[i.file], i.text)
		changed[i.file] = text[:i.at] + i.code + text[i.at:]
		changed[path.Join(path.Dir(i.file), "mutant_at_work.go")] = fmt.Sprintf(
			"package %s\n\nimport \"os\"\n\nvar %s = os.Getenv(%q)\n", i.clause, atWork, selector)
	}
	replace := map[string]string{}
	for name, text := range changed {
		at := filepath.Join(tmp, strconv.Itoa(len(replace))+".go")
		replace[filepath.Join(root, filepath.FromSlash(name))] = at
		err = errors.Join(err, os.WriteFile(at, []byte(text), 0o600))
	}
	overlay = filepath.Join(tmp, "overlay.json")
	text, wrong := json.Marshal(map[string]any{"Replace": replace})
	return overlay, errors.Join(err, wrong, os.WriteFile(overlay, text, 0o600))
}

// build compiles the tests that judge the mutants. It returns their binaries, by package.
func build(tmp, root string, list []mutant) (map[string]string, error) {
	overlay, err := weave(tmp, root, list)
	if err != nil {
		return nil, err
	}
	binaries := map[string]string{}
	folders := map[string][]string{} // their packages; two of one name need two folders
	same := map[string]int{}
	for _, m := range list {
		pkg := m.pkg()
		if binaries[pkg] != "" {
			continue
		}
		name := path.Base(path.Join("weir", pkg))
		folder := filepath.Join(tmp, strconv.Itoa(same[name]))
		same[name]++
		folders[folder] = append(folders[folder], pkg)
		binaries[pkg] = filepath.Join(folder, name+".test")
	}
	for folder, packages := range folders {
		flags := []string{"test", "-c", "-o", folder + "/", "-overlay=" + overlay, "-vet=off", "-ldflags=-w"} // -w: for no debugger
		cmd := exec.Command("go", append(flags, packages...)...)
		cmd.Dir = root
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("a mutant does not compile: %w\n%s", err, out)
		}
	}
	return binaries, nil
}

// run runs tests of a package as `go test` does, with the mutant of that name active, or no mutant
// for "". It sets the environment of the gate: long tests run too, properties are tried ten times
// as often as usual, and a failure leaves no file in the working tree and is not shrunk, which
// takes up to half a minute.
//
// The tests run in a random order, which shows a test that passes only after another one.
func run(root, pkg, binary, tests, active string, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout) // if the binary does not end itself
	defer cancel()
	pattern := "^(" + strings.ReplaceAll(tests, "/", ")$/^(") + ")$"
	cmd := exec.CommandContext(ctx, binary,
		"-test.v", "-test.paniconexit0", "-test.shuffle=on", "-test.timeout="+timeout.String(), "-test.run="+pattern)
	cmd.Dir = filepath.Join(root, filepath.FromSlash(pkg))
	cmd.Env = append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s", selector+"="+active)
	cmd.WaitDelay = time.Second // for processes that the test left behind
	output, err := cmd.CombinedOutput()
	return string(output), err
}
