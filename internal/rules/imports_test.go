package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// mayImport is the package graph: for each package of the library, the packages of the
// library that it may import. "." is the root package. The graph has the same order as the
// one in ARCHITECTURE.md, from the bottom up.
var mayImport = map[string]string{
	"internal/portable": "",
	"internal/dag":      "",
	"internal/longtest": "",
	"internal/race":     "",
	"internal/isolate":  "",
	"internal/trusted":  "",
	"internal/settings": "",
	"internal/clock":    "",
	"internal/deadline": "internal/clock",
	"internal/pages":    "",
	"internal/wire":     "",
	"internal/nearest":  "",
	"internal/label":    "",
	"internal/access":   "",
	"histogram":         "",

	"pid":             "internal/portable internal/settings",
	"load":            "internal/isolate internal/settings internal/wire",
	"load/sqlload":    "load",
	"load/badgerload": "load",
	"load/neo4jload":  "load internal/settings",
	"memory":          "internal/isolate internal/pages internal/settings load internal/wire",

	"law":             "pid internal/portable internal/settings internal/nearest",
	"internal/window": "histogram law",

	"internal/reply":   "",
	"internal/queue":   "internal/reply internal/portable",
	"internal/virtual": "internal/reply internal/portable internal/window",
	"internal/admit":   "internal/reply internal/queue internal/virtual internal/window law",

	"internal/seam": "internal/admit",

	".":        "histogram internal/admit internal/clock internal/deadline internal/queue internal/reply internal/seam internal/settings internal/window law internal/wire",
	"capacity": "internal/reply internal/trusted internal/settings internal/wire",

	"bulkhead": ". internal/admit internal/clock internal/seam internal/settings law internal/wire",
	"throttle": ". internal/admit internal/isolate internal/seam internal/settings law load pid internal/wire",
	"pool":     "capacity internal/admit internal/clock internal/dag internal/isolate internal/reply internal/settings internal/trusted internal/window law internal/wire", // a gate function connects it to a limiter

	"fleet":           ". bulkhead internal/isolate internal/lease internal/wire law",
	"fleet/pgfleet":   ". fleet",
	"fleet/storetest": "fleet",
	"fleet/natsfleet": ". fleet",

	"bulk": ". internal/isolate internal/settings memory throttle",

	"pool/sourcetest":   "pool",
	"pool/natspool":     "pool",
	"internal/tracelog": "",
	"internal/maxmin":   "",
	"internal/lease":    "internal/maxmin law",
	"internal/pipe":     "fleet",
	"sim":               "internal/admit internal/queue internal/reply internal/settings internal/window law internal/portable internal/maxmin internal/nearest internal/tracelog",

	"internal/suites":      "sim internal/portable internal/nearest",
	"internal/oraclecache": "sim",
	"internal/playground":  "internal/suites law sim",

	"internal/playground/wasm": "internal/playground",
	"internal/uplot":           "",
	"internal/storm":           ". load throttle",
	"internal/browser":         "",
	"internal/handover":        "",
	"internal/figures":         ". bulkhead",
	"internal/limittest":       ". bulkhead internal/deadline law", // for tests
	"internal/loadtest":        "load",                             // for tests
	"internal/locked":          "",                                 // for tests
	"internal/must":            "",                                 // for tests
	"internal/certstest":       "",                                 // for tests
	"internal/tcptest":         "",                                 // for tests
	"internal/chromium":        "",                                 // for tests
	"internal/bench":           "",                                 // tests only
	"internal/stress":          "",                                 // tests only
	"edge":                     ". internal/reply",
	"retry":                    ". edge internal/clock internal/settings internal/wire",
	"internal/headers":         "",
	"internal/quota":           "",
	"internal/slot":            ".",
	"weirhttp":                 ". bulkhead edge internal/headers internal/quota internal/rpc internal/settings internal/slot retry trust",
	"weirbreaker":              ".",
	"shed":                     ". edge internal/settings load internal/wire",
	"internal/routers":         "", // its examples are tests

	"trust":              ".",
	"internal/rpc":       ". bulkhead edge internal/deadline retry",
	"weirgrpc":           ". bulkhead internal/deadline internal/rpc retry trust",
	"weirconnect":        ". bulkhead edge internal/deadline internal/rpc retry weirhttp",
	"metrics":            ". bulkhead capacity histogram internal/label law load memory pool throttle internal/settings",
	"dash":               ". bulkhead histogram internal/access internal/isolate internal/label internal/recording internal/uplot law pool throttle",
	"internal/recording": "",
	"weirprom":           "histogram metrics",
	"weirotel":           ". edge histogram metrics",
	"weirriver":          ". bulkhead edge",
	"weirtemporal":       ". edge internal/settings",
	"internal/jobs":      "",

	"internal/documents": "", // for internal/rules
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
			allowed, known := graph[file.dir]
			if !known {
				complaints = append(complaints, fmt.Sprintf("%s: package %s is not in the graph: "+
					"add it to mayImport in internal/rules, with the packages that it may import, and to ARCHITECTURE.md", file.path, file.dir))
				continue
			}
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
			"law/a.go: law must not import .", "law/a.go: law must not import internal/admit", "new/a.go: package new is not in the graph",
			"internal/rules: package gone", "internal/rules: law may import load",
		},
		"law/a.go", `package law; import (_ "github.com/weir-go/weir"; _ "github.com/weir-go/weir/internal/admit"; _ "github.com/weir-go/weir/pid")`,
		"law/a_test.go", `package law_test; import (_ "github.com/weir-go/weir"; _ "github.com/weir-go/weir/load")`,
		"new/a.go", `package new`,
		"cmd/weir/main.go", `package main; import _ "github.com/weir-go/weir"`,
		"weir.go", `package weir; import (_ "github.com/weir-go/weir/law"; _ "github.com/weir-go/weirder")`)
}
