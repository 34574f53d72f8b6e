package rules

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
)

// outside are the modules that are deliberately not in the workspace: nobody
// who works on the library should have to download what they need.
var outside = []string{"tools", "bench/peers", "bench/pools"}

func modules(t *tree) (complaints []string) {
	var workspace []string
	for _, line := range lines(t.fsys, "go.work") {
		if dir := line[len(line)-1]; strings.HasPrefix(dir, ".") {
			workspace = append(workspace, path.Clean(dir))
		}
	}
	for _, name := range t.paths {
		dir := path.Dir(name)
		if path.Base(name) != "go.mod" || slices.Contains(outside, dir) {
			continue
		}
		if !slices.Contains(workspace, dir) {
			complaints = append(complaints, name+": not in go.work: add it there, or to outside in internal/rules")
		}
		for _, line := range lines(t.fsys, name) {
			switch {
			case line[0] == "module":
				if want := path.Join(modulePath, dir); line[1] != want {
					complaints = append(complaints, fmt.Sprintf("%s: is named %s, want %s", name, line[1], want))
				}
			case line[0] == "require" && dir == ".":
				complaints = append(complaints, name+": the root module must not require anything: "+
					"a package that needs a third party is a module of its own")
			case line[0] == "replace":
				complaints = append(complaints, name+": must not have a replace: with one, go install ...@latest refuses the module")
			case slices.ContainsFunc(line, func(s string) bool { return s == modulePath || strings.HasPrefix(s, modulePath+"/") }):
				complaints = append(complaints, name+": must not require a module of the workspace: "+
					"go.work joins them and scripts/release adds the requires (docs/decisions/0001)")
			}
		}
	}
	return complaints
}

// lines splits a go.mod or go.work file into lines and these into words,
// without comments and empty lines.
func lines(fsys fs.FS, name string) (lines [][]string) {
	text, _ := fs.ReadFile(fsys, name)
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "//")
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, words)
		}
	}
	return lines
}

func TestModulesNeedOnlyTheWorkspace(t *testing.T) {
	holds(t, modules)
	complains(t, modules,
		[]string{
			"bench/other/go.mod: not in go.work",
			"cmd/weir/go.mod: must not require a module of the workspace",
			"cmd/weir/go.mod: must not have a replace",
			"go.mod: the root module must not require anything",
			"lone/go.mod: not in go.work",
			"lone/go.mod: is named lone",
		},
		"go.work", "go 1.26\n\nuse (\n\t.\n\t./cmd/weir\n)\n",
		"go.mod", "module github.com/weir-go/weir\n\nrequire example.com/a v1.0.0 // why\n",
		"cmd/weir/go.mod", "module github.com/weir-go/weir/cmd/weir\n\nrequire (\n\tgithub.com/weir-go/weir v0.1.0\n)\n\nreplace github.com/weir-go/weir => ../..\n",
		"lone/go.mod", "module lone\n",
		"tools/go.mod", "module tools\n",
		"bench/peers/go.mod", "module github.com/weir-go/weir/bench/peers\n\nrequire github.com/weir-go/weir v0.0.0\n\nreplace github.com/weir-go/weir => ../..\n",
		"bench/other/go.mod", "module github.com/weir-go/weir/bench/other\n")
}
