package rules

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mayImport is the package graph: for each package of the library, the packages of the
// library that it may import, if there are any. "." is the root package. The graph has the same
// order as the one in ARCHITECTURE.md, from the bottom up.
var mayImport = map[string]string{
	"internal/deadline": "internal/clock",

	"pid":             "internal/portable internal/settings",
	"load":            "internal/isolate internal/pages internal/settings internal/wire",
	"load/sqlload":    "load",
	"load/badgerload": "load internal/disk",
	"load/neo4jload":  "load internal/settings",
	"memory":          "internal/clock internal/isolate internal/pages internal/settings load internal/wire",

	"law":             "pid internal/portable internal/settings internal/nearest",
	"internal/window": "histogram law",

	"internal/queue":   "internal/reply internal/portable",
	"internal/virtual": "internal/reply internal/portable internal/window",
	"internal/admit":   "internal/reply internal/queue internal/virtual internal/window law",

	"internal/seam": "internal/admit",

	".":        "histogram internal/admit internal/clock internal/deadline internal/queue internal/reply internal/seam internal/settings internal/window law internal/wire",
	"capacity": "internal/reply internal/trusted internal/settings internal/wire",

	"bulkhead": ". internal/admit internal/clock internal/seam internal/settings law internal/wire",
	"throttle": ". internal/admit internal/isolate internal/seam internal/settings law load pid internal/wire",
	"pool":     ". capacity internal/admit internal/clock internal/dag internal/isolate internal/reply internal/settings internal/trusted internal/window law internal/wire", // weir.Classify

	"fleet":           ". bulkhead internal/isolate internal/lease internal/wire law",
	"fleet/pgfleet":   ". fleet internal/settings",
	"fleet/storetest": "fleet internal/must internal/together",
	"fleet/natsfleet": ". fleet internal/settings",

	"bulk": ". internal/clock internal/isolate internal/settings memory throttle",

	"pool/sourcetest": "pool",
	"pool/natspool":   "pool internal/disk internal/settings",
	"internal/lease":  "internal/maxmin law",
	"internal/pipe":   "fleet",
	"sim":             "internal/admit internal/queue internal/reply internal/settings internal/window law internal/portable internal/maxmin internal/nearest internal/tracelog",

	"internal/suites":      "sim internal/portable internal/nearest",
	"internal/oraclecache": "sim",
	"internal/playground":  "internal/suites law sim",

	"internal/playground/wasm": "internal/playground",
	"internal/limittest":       ". bulkhead internal/deadline internal/must law", // for tests
	"internal/certstest":       "internal/must",                                  // for tests
	"internal/chromium":        "internal/must",                                  // for tests
	"edge":                     ". internal/reply",
	"retry":                    ". edge internal/clock internal/settings internal/wire",
	"internal/slot":            ".",
	"weirhttp":                 ". bulkhead edge internal/headers internal/quota internal/rpc internal/settings internal/slot retry trust",
	"weirbreaker":              ".",
	"shed":                     ". edge internal/settings load internal/wire",

	"trust":        ".",
	"internal/rpc": ". bulkhead edge internal/deadline retry",
	"weirgrpc":     ". bulkhead internal/deadline internal/rpc retry trust",
	"weirconnect":  ". bulkhead internal/deadline internal/rpc retry weirhttp",
	"metrics":      ". bulkhead capacity histogram internal/label law load memory pool throttle internal/settings",
	"dash":         ". bulkhead histogram internal/access internal/isolate internal/label internal/recording law pool throttle",
	"weirprom":     "histogram metrics",
	"weirotel":     ". edge histogram metrics",
	"weirriver":    ". bulkhead edge",
	"weirtemporal": ". edge internal/settings",
}

// programs are the trees that may import every package; other trees may not import theirs.
var programs = []string{"cmd/", "bench/", "examples/", "internal/check/", "internal/dbtest/", "internal/promcheck/", "internal/proxytest/", "internal/release/", "internal/rules/", "internal/site/"}

// ownPackage returns the directory of an imported package, if it is one of ours.
func ownPackage(imported string) (dir string, ours bool) {
	dir, ours = strings.CutPrefix(imported+"/", modulePath+"/")
	if dir = strings.TrimSuffix(dir, "/"); dir == "" {
		dir = "."
	}
	return dir, ours
}

func isProgram(dir string) bool {
	return slices.ContainsFunc(programs, func(p string) bool { return strings.HasPrefix(dir+"/", p) })
}

// imports demands that a package imports only packages below it, and that no permission of the
// graph is unused.
func imports(graph map[string]string) func(*tree) []string {
	return func(t *tree) (complaints []string) {
		used := map[string]bool{} // an importing package, or one with an imported one
		for _, file := range t.sources {
			if file.test || isProgram(file.dir) {
				continue
			}
			used[file.dir] = true
			allowed := graph[file.dir]
			for _, path := range file.imported() {
				path, ours := ownPackage(path)
				used[file.dir+" "+path] = true
				if ours && !slices.Contains(strings.Fields(allowed), path) {
					complaints = append(complaints, fmt.Sprintf("%s: %s must not import %s: "+
						"a package imports only packages below it (allowed here: %q); move the code, "+
						"or change the graph in internal/rules and ARCHITECTURE.md", file.path, file.dir, path, allowed))
				}
			}
		}
		for _, dir := range slices.Sorted(maps.Keys(graph)) {
			if !used[dir] {
				complaints = append(complaints, fmt.Sprintf("internal/rules: package %s is in the graph and does not exist: take it out of mayImport", dir))
				continue
			}
			for allowed := range strings.FieldsSeq(graph[dir]) {
				if !used[dir+" "+allowed] {
					complaints = append(complaints, fmt.Sprintf("internal/rules: %s may import %s and does not: take that out of mayImport", dir, allowed))
				}
			}
		}
		return complaints
	}
}

func TestPackagesImportOnlyPackagesBelow(t *testing.T) {
	holds(t, imports(mayImport))
	complains(t, imports(map[string]string{"law": "pid load", "gone": "", ".": "law"}),
		[]string{
			"law/a.go: law must not import .", "law/a.go: law must not import internal/admit", "new/a.go: new must not import law",
			"internal/rules: package gone", "internal/rules: law may import load",
		},
		"law/a.go", `package law; import (_ "github.com/weir-go/weir"; _ "github.com/weir-go/weir/internal/admit"; _ "github.com/weir-go/weir/pid")`,
		"law/a_test.go", `package law_test; import (_ "github.com/weir-go/weir"; _ "github.com/weir-go/weir/load")`,
		"new/a.go", `package new; import _ "github.com/weir-go/weir/law"`,
		"cmd/weir/main.go", `package main; import _ "github.com/weir-go/weir"`,
		"weir.go", `package weir; import (_ "github.com/weir-go/weir/law"; _ "github.com/weir-go/weirder")`)
}

// outside are the modules that are deliberately in no workspace: work on the library does
// not need their downloads.
var outside = []string{"tools", "bench/peers", "bench/pools"}

// workspace returns the modules that a workspace file joins.
func (t *tree) workspace(name string) (dirs []string) {
	for _, line := range lines(t.fsys, name) {
		if dir := line[len(line)-1]; strings.HasPrefix(dir, ".") {
			dirs = append(dirs, path.Clean(dir))
		}
	}
	return dirs
}

// modules demands that the workspaces have all modules, and that a go.mod needs only third parties.
func modules(t *tree) (complaints []string) {
	workspace := t.workspace("all.work")
	for _, dir := range t.workspace("go.work") {
		if !slices.Contains(workspace, dir) {
			complaints = append(complaints, fmt.Sprintf("go.work: has %s, which all.work has not: add it there", dir))
		}
	}
	for _, name := range t.paths {
		dir := path.Dir(name)
		if path.Base(name) != "go.mod" || slices.Contains(outside, dir) {
			continue
		}
		if !slices.Contains(workspace, dir) {
			complaints = append(complaints, name+": not in all.work: add it there, or to outside in internal/rules")
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
					"the workspaces join them and scripts/release adds the requires (docs/decisions/0001)")
			}
		}
	}
	return complaints
}

// lines splits a go.mod or go.work file into lines and these into words, without comments
// and empty lines.
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
			"go.work: has new, which all.work has not",
			"bench/other/go.mod: not in all.work",
			"cmd/weir/go.mod: must not require a module of the workspace",
			"cmd/weir/go.mod: must not have a replace",
			"go.mod: the root module must not require anything",
			"lone/go.mod: not in all.work",
			"lone/go.mod: is named lone",
		},
		"go.work", "go 1.26\n\nuse (\n\t.\n\t./new\n)\n",
		"all.work", "go 1.26\n\nuse (\n\t.\n\t./cmd/weir\n)\n",
		"go.mod", "module github.com/weir-go/weir\n\nrequire example.com/a v1.0.0 // why\n",
		"cmd/weir/go.mod", "module github.com/weir-go/weir/cmd/weir\n\nrequire (\n\tgithub.com/weir-go/weir v0.1.0\n)\n\nreplace github.com/weir-go/weir => ../..\n",
		"lone/go.mod", "module lone\n",
		"tools/go.mod", "module tools\n",
		"bench/peers/go.mod", "module github.com/weir-go/weir/bench/peers\n\nrequire github.com/weir-go/weir v0.0.0\n\nreplace github.com/weir-go/weir => ../..\n",
		"bench/other/go.mod", "module github.com/weir-go/weir/bench/other\n")
}

// light are the modules of go.work with their allowed downloads. First steps need no other
// downloads, so code that needs more is a module, and a command, of its own:
// docs/decisions/0019.
var light = map[string]string{
	".":              "",
	"cmd/weir":       "github.com/alecthomas/kong github.com/goccy/go-yaml github.com/pires/go-proxyproto github.com/sony/gobreaker/v2 golang.org/x/term " + prometheus,
	"internal/check": "pgregory.net/rapid github.com/goccy/go-yaml github.com/santhosh-tekuri/jsonschema/v6 golang.org/x/text", // of its tests
	"weirbreaker":    "github.com/sony/gobreaker/v2",
	"weirprom":       "github.com/kylelemons/godebug " + prometheus,
}

// prometheus is the client library with its dependencies.
const prometheus = "github.com/prometheus/client_golang github.com/beorn7/perks github.com/cespare/xxhash/v2 github.com/munnerz/goautoneg " +
	"github.com/prometheus/client_model github.com/prometheus/common github.com/prometheus/procfs golang.org/x/sys google.golang.org/protobuf"

// downloads limits the requirements of the modules of go.work.
func downloads(t *tree) (complaints []string) {
	for _, dir := range t.workspace("go.work") {
		allowed, known := light[dir]
		if !known {
			complaints = append(complaints, fmt.Sprintf("go.work: has %s: put it in all.work only, or say in internal/rules what it may download", dir))
			continue
		}
		name := path.Join(dir, "go.mod")
		text, _ := fs.ReadFile(t.fsys, name)
		for _, match := range required.FindAllStringSubmatch(string(text), -1) {
			module := match[1]
			if _, ours := ownPackage(module); !ours && !slices.Contains(strings.Fields(allowed), module) {
				complaints = append(complaints, fmt.Sprintf("%s: requires %s: what needs it becomes a module of its own, as cmd/weir-fleet is, "+
					"or is worth the time of everyone's first build (allowed here: %q; see scripts/first-build)", name, module, allowed))
			}
		}
	}
	return complaints
}

// required matches a line of a go.mod that requires a module, in a block or alone.
var required = regexp.MustCompile(`(?m)^(?:require |\t)(\S+) v`)

func TestFirstLookDownloadsLittle(t *testing.T) {
	holds(t, downloads)
	complains(t, downloads,
		[]string{"cmd/weir/go.mod: requires example.com/plot", "cmd/weir/go.mod: requires example.com/indirect", "go.work: has load/badgerload"},
		"go.work", "go 1.26\n\nuse (\n\t./cmd/weir\n\t./weirbreaker\n\t./load/badgerload\n)\n",
		"cmd/weir/go.mod", "module x\n\nrequire (\n\tgithub.com/alecthomas/kong v1.17.0\n\texample.com/plot v0.1.0\n)\n\n"+
			"require example.com/indirect v0.1.0 // indirect\n",
		"weirbreaker/go.mod", "module y\n\nrequire github.com/sony/gobreaker/v2 v2.4.0\nrequire github.com/weir-go/weir v0.1.0\n",
		"load/badgerload/go.mod", "module z\n\nrequire example.com/badger v0.1.0\n")
}
