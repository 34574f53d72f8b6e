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

// get returns the value of a variable, or the empty string.
func (e environ) get(name string) string {
	for _, variable := range e {
		if known, value, _ := strings.Cut(variable, "="); known == name {
			return value
		}
	}
	return ""
}

// prefix begins weir's variables.
const prefix = "WEIR_"

// variableOf names the variable that sets a flag. It is empty for a flag that only prints
// something.
func variableOf(flag *kong.Flag) string {
	switch flag.Name {
	case "help", "version":
		return ""
	}
	return prefix + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
}

// resolver sets a missing flag from its environment variable.
func (e environ) resolver() kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, flag *kong.Flag) (any, error) {
		if value := e.get(variableOf(flag)); value != "" {
			return value, nil
		}
		return nil, nil
	})
}

// variables maps each variable that sets a flag to the commands that have the flag.
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

// notFlags matches variables that set no flag of weir: those that Kubernetes sets for a service
// named weir; the variables of a job that runs weir; and the variables of weir's tests.
var notFlags = regexp.MustCompile(`^WEIR_(JOB_.*|(.*_)?SERVICE_HOST|(.*_)?SERVICE_PORT(_.*)?|(.*_)?PORT(_\d+_.*)?|TESTS|TRIALS)$`)

// unknown complains of variables that have weir's prefix and set nothing. They are no errors,
// because they may be meant for a newer version.
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
