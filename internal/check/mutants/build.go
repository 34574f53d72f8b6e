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
	number int    // activates it, from 1
	code   string // of the whole file
	clause string // the name of the package of the file
	begin  int    // of the body of the function
	body   string // changed
}

// findAll finds the functions that mutants change.
func findAll(root string, list []mutant) (changes []change, err error) {
	for i, m := range list {
		c, wrong := m.find(root)
		if wrong != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", m, wrong))
		}
		c.number = i + 1
		changes = append(changes, c)
	}
	return changes, err
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
		return change{mutant: m, code: text, clause: file.Name.Name, begin: begin, body: body}, nil
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
// with the changed copies of its body, each in an `if` that only its mutant enters. For an error of
// the compiler in one, the file is the name of the mutant. It returns the files that differ, by
// their names from the root.
func weave(list []change) map[string]string {
	files := map[string]string{}
	fromTheEnd := slices.SortedFunc(slices.Values(list), func(a, b change) int { return b.begin - a.begin })
	for _, c := range fromTheEnd {
		if files[c.file] == "" {
			files[c.file] = c.code
			files[path.Join(path.Dir(c.file), "mutant_at_work.go")] = fmt.Sprintf(
				"package %s\n\nimport (\n\"os\"\n\"strconv\"\n)\n\nvar %s, _ = strconv.Atoi(os.Getenv(%q))\n", c.clause, atWork, selector)
		}
		code := files[c.file]
		files[c.file] = code[:c.begin] + fmt.Sprintf("\nif %s == %d {\n//line %s:1\n%s\n}\n", atWork, c.number, c.name, c.body) + code[c.begin:]
	}
	return files
}

// A binary is the compiled tests of a package.
type binary struct{ root, pkg, file string }

// build compiles the tests that judge the changes. It returns their binaries, by package.
func build(tmp, root string, list []change) (map[string]binary, error) {
	replace := map[string]string{}
	for name, code := range weave(list) {
		changed := filepath.Join(tmp, strconv.Itoa(len(replace))+".go")
		if err := os.WriteFile(changed, []byte(code), 0o600); err != nil {
			return nil, err
		}
		replace[filepath.Join(root, filepath.FromSlash(name))] = changed
	}
	overlay := filepath.Join(tmp, "overlay.json")
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err := errors.Join(err, os.WriteFile(overlay, text, 0o600)); err != nil {
		return nil, err
	}
	binaries := map[string]binary{}
	folders := map[string][]string{} // their packages; two of one name need two folders
	same := map[string]int{}
	for _, c := range list {
		pkg := c.pkg()
		if binaries[pkg].file != "" {
			continue
		}
		name := path.Base(path.Join(modulePath, pkg))
		folder := filepath.Join(tmp, strconv.Itoa(same[name]))
		same[name]++
		folders[folder] = append(folders[folder], pkg)
		binaries[pkg] = binary{root, pkg, filepath.Join(folder, name+".test")}
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

// run runs one test as `go test` does, with the mutant of that number active, or none for 0. It
// sets the environment of the gate: long tests run too, properties are tried ten times as often as
// usual, and a failure leaves no file in the working tree and is not shrunk, which takes up to half
// a minute.
func (b binary) run(test string, number int, timeout time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*timeout) // if the test does not end itself
	defer cancel()
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	cmd := exec.CommandContext(ctx, b.file, "-test.v", "-test.paniconexit0", "-test.timeout="+timeout.String(), "-test.run="+pattern)
	cmd.Dir = filepath.Join(b.root, filepath.FromSlash(b.pkg))
	cmd.Env = append(os.Environ(), "WEIR_TESTS=all", "RAPID_NOFAILFILE=true", "RAPID_CHECKS=1000", "RAPID_SHRINKTIME=0s", selector+"="+strconv.Itoa(number))
	cmd.WaitDelay = time.Second // for processes that the test left behind
	output, err := cmd.CombinedOutput()
	return string(output), err
}
