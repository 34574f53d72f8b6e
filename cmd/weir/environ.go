package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weir-go/weir/internal/nearest"
)

// environ is the environment: each variable as NAME=value.
type environ []string

// get returns the value of a variable, empty if there is none.
func (e environ) get(name string) string {
	for _, variable := range e {
		if known, value, _ := strings.Cut(variable, "="); known == name {
			return value
		}
	}
	return ""
}

// prefix begins the variables of weir. Those of the proxy's file go on with a second underscore.
const prefix = "WEIR_"

// variableOf names the variable that sets a flag, empty for a flag that only prints something.
func variableOf(flag *kong.Flag) string {
	switch flag.Name {
	case "help", "version":
		return ""
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// resolver sets a flag that is not given from the variable named after it.
func (e environ) resolver() kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if value := e.get(variableOf(flag)); value != "" {
			return value, nil
		}
		return nil, nil
	})
}

// variables lists those that set a flag of any command, with the commands that have it.
func variables(root *kong.Node) map[string][]string {
	found := map[string][]string{}
	for _, command := range root.Leaves(true) {
		for _, flags := range command.AllFlags(true) {
			for _, flag := range flags {
				if name := variableOf(flag); name != "" {
					found[name] = append(found[name], command.Path())
				}
			}
		}
	}
	return found
}

// notFlags matches variables that are not meant for weir's flags: those of the proxy's file, which
// are checked with it, those that Kubernetes sets for a service named weir, and those of weir's
// tests.
var notFlags = regexp.MustCompile(`^WEIR_(_.*|(.*_)?SERVICE_HOST|(.*_)?SERVICE_PORT(_.*)?|(.*_)?PORT(_\d+_.*)?|TESTS|TRIALS)$`)

// unknown says which variables look like those of weir, and set nothing. They are no errors: what
// starts weir may set more than this version knows.
func (e environ) unknown(root *kong.Node) (complaints []string) {
	known := slices.Sorted(maps.Keys(variables(root)))
	for _, variable := range e {
		name, _, _ := strings.Cut(variable, "=")
		if !strings.HasPrefix(name, prefix) || slices.Contains(known, name) || notFlags.MatchString(name) {
			continue
		}
		advice := "see weir help environment"
		if meant := nearest.To(name, known); meant != "" {
			advice = "did you mean " + meant + "?"
		}
		complaints = append(complaints, fmt.Sprintf("%s in the environment sets nothing: %s", name, advice))
	}
	return complaints
}
