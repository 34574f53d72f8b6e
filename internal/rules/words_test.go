package rules

import (
	"fmt"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"
)

// shared are the exported names of several packages, each with these packages and its one
// meaning in all of them. Fields and methods are not here: readers see them with their type.
var shared = map[string]string{
	"Above":        "law pool: the signal is above what the law or the scaler wants",
	"Below":        "law pool: the signal is below what the law or the scaler wants",
	"Breaker":      ". weirbreaker: forbids work while what it needs is broken",
	"ByKey":        "weirbreaker weirhttp: one for each key of a set",
	"ByMethod":     "weirconnect weirgrpc: a compartment of a set for each method",
	"Change":       ". sim: one move of a limit",
	"Classify":     ". retry weirconnect weirgrpc: what the error of work says about its downstream",
	"Client":       "retry sim: who sends requests to a server; in sim the settings of a kind of them",
	"ClientConfig": "weirconnect weirgrpc: the settings of ClientLimits",
	"ClientLimits": "weirconnect weirgrpc: the limits on the calls of a client",
	"Config":       ". bulk bulkhead load load/neo4jload memory pid pool pool/sourcetest retry shed throttle weirhttp: the settings of what New or Run of the package makes",
	"Controller":   "law pid: a control law at work, with the state of what it controls",
	"Decision":     "law pool: the next limit or size, with its reason",
	"Do":           ". bulkhead: runs a function that returns a value within a limit",
	"EachMessage":  "weirconnect weirgrpc: admits the messages of a stream one by one",
	"ErrClosed":    ". load/badgerload load/pebbleload memory: what was asked has been closed",
	"ErrConfig":    ". bulk capacity law load load/neo4jload memory metrics pid pool throttle: the caller's mistake: a setting or an argument out of range",
	"ErrPrivilege": "load/neo4jload load/sqlload: the monitor's user may not see what others do",
	"ErrRefused":   ". capacity: work that was not admitted",
	"ErrRunning":   "load memory throttle: Run was called while it runs",
	"Event":        ". load memory pool throttle: something that happened, as a hook or a reader hears of it",
	"Exempt":       "weirconnect weirgrpc weirhttp: takes what is named out of what is limited",
	"Failure":      ". retry sim: work that failed for a reason that says something about the downstream",
	"Gate":         "edge sim weirhttp: admits work or refuses it; a Limiter is one",
	"Kind":         ". load memory pool throttle: what happened, of an Event",
	"LimitClient":  "weirconnect weirgrpc: makes ClientLimits",
	"LimitServer":  "weirconnect weirgrpc: makes ServerLimits",
	"Limiter":      ". sim: bounds work in flight; in sim its settings, as a part of a scenario",
	"Marks":        "bulk load/badgerload: where a store keeps how much of an import it has",
	"New":          ". bulkhead capacity load load/badgerload load/neo4jload memory metrics pid pool retry shed throttle weirbreaker weirhttp weirotel weirprom weirtemporal: makes what the package is about",
	"NoReason":     "law pool: the zero Code of a Reason",
	"Once":         "weirconnect weirgrpc: admits a stream when it begins",
	"One":          "weirconnect weirgrpc weirhttp weirriver: the same limiter for all calls, or jobs",
	"Open":         "load/badgerload load/pebbleload: opens a store with what the package needs or repairs",
	"Outcome":      ". retry sim: how work ended",
	"PID":          "law throttle: the settings of a PID controller, of a limit or of a pace",
	"Plan":         "law pool: how a controller or a sizer wants to be asked: in law the next window, in pool the first size, the bounds and the period",
	"Queue":        ". sim: the settings of a limiter's queue",
	"Reason":       ". capacity law pool: why a decision went as it did: a refusal, a limit, a size",
	"RefusedError": ". capacity: a refusal with its reason",
	"Retry":        "pool sim: the settings of trying again",
	"Retries":      "weirconnect weirgrpc: sends the calls of a client again",
	"RetryAfter":   "edge weirconnect weirgrpc: how long the caller of work that was refused should stay away",
	"RetryClient":  "weirconnect weirgrpc: makes Retries",
	"Run":          "bulk pool/sourcetest sim: runs what it is given to its end",
	"ServerConfig": "weirconnect weirgrpc: the settings of ServerLimits",
	"ServerLimits": "weirconnect weirgrpc: the limits on the calls of a server",
	"Snapshot":     ". bulk bulkhead capacity histogram memory pid pool retry shed throttle: the state at one moment",
	"Source":       "load load/badgerload load/neo4jload load/pebbleload pool sim: where something comes from that its package consumes: signals, tasks, requests",
	"Streams":      "weirconnect weirgrpc: what of a stream takes a slot",
	"Success":      ". retry sim: work that succeeded",
	"Throttle":     "retry throttle: paces or refuses work before what it would overload",
	"Timeout":      ". sim: work that took too long",
	"Unused":       "law pool: a rise would do nothing: not all of the limit or the size is used",
	"Within":       "law pool: the signal is where the law or the scaler wants it",
}

// oneMeaning demands that an exported name of several public packages is in a list with its
// one meaning.
func oneMeaning(list map[string]string) func(*tree) []string {
	return func(t *tree) (complaints []string) {
		having := map[string]map[string]bool{} // packages by name
		for _, file := range t.sources {
			if file.test || isProgram(file.dir) || isInternal(file.dir) {
				continue
			}
			for name := range exportedNames(file.File) {
				if having[name] == nil {
					having[name] = map[string]bool{}
				}
				having[name][file.dir] = true
			}
		}
		for _, name := range slices.Sorted(maps.Keys(having)) {
			packages := strings.Join(slices.Sorted(maps.Keys(having[name])), " ")
			said, meaning, _ := strings.Cut(list[name], ": ")
			switch {
			case len(having[name]) == 1:
			case said == "":
				complaints = append(complaints, fmt.Sprintf("%s is exported by %s: find another word for all but one of them, "+
					"or say in internal/rules which one meaning it has in all", name, packages))
			case said != packages || meaning == "":
				complaints = append(complaints, fmt.Sprintf("%s is exported by %s, and internal/rules says what it means in %s: "+
					"look whether the meaning holds for all", name, packages, said))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(list)) {
			if len(having[name]) < 2 {
				complaints = append(complaints, fmt.Sprintf("internal/rules: %s is not exported by several packages: take it out of shared", name))
			}
		}
		return complaints
	}
}

// exportedNames yields the exported names of a file at package level.
func exportedNames(file *ast.File) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for _, decl := range file.Decls {
			for _, ident := range declared(decl) {
				if ident.IsExported() && !yield(ident.Name) {
					return
				}
			}
		}
	}
}

// declared returns the names that a declaration adds to the package.
func declared(decl ast.Decl) (names []*ast.Ident) {
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			names = append(names, decl.Name)
		}
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name)
			case *ast.ValueSpec:
				names = append(names, spec.Names...)
			}
		}
	}
	return names
}

func TestExportedWordsHaveOneMeaning(t *testing.T) {
	holds(t, oneMeaning(shared))
	complains(t, oneMeaning(map[string]string{
		"Source": "load pool: where something comes from", "Kind": "load pool: a kind of event", "Event": "load pool: ", "Law": "law pool: gone",
	}),
		[]string{
			"Event is exported by load pool, and internal/rules says", "Kind is exported by law load pool, and internal/rules says",
			"Reason is exported by law load: find another word", "internal/rules: Law is not exported by several",
		},
		"law/a.go", "package law\ntype (Law int; Kind int); var Reason, own int",
		"load/a.go", "package load\ntype Source int; func Reason() {}; const Kind = 1; type Event int; func (s Source) Law() {}",
		"pool/a.go", "package pool\ntype Source int; type Kind int; type Event struct { Reason int }; var own int",
		"pool/a_test.go", "package pool_test\nvar Reason int",
		"internal/dag/a.go", "package dag\ntype Reason int",
		"cmd/weir/a.go", "package main\ntype Reason int")
}
