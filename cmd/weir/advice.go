package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weir-go/weir/internal/nearest"
	"github.com/weir-go/weir/internal/suites"
	"github.com/weir-go/weir/sim"
)

// withAdvice adds advice to an error about an unknown word: the commands that take the flag
// or the scenario, or else where the allowed words are listed.
func withAdvice(err error) error {
	parse, text := new(kong.ParseError), err.Error()
	argument, isArgument := strings.CutPrefix(text, "unexpected argument ")
	isExpected := strings.HasPrefix(text, "expected ")
	flag, isFlag := strings.CutPrefix(text, "unknown flag --")
	if !isArgument && !isFlag && !isExpected || strings.Contains(text, "did you mean") || !errors.As(err, &parse) {
		return err
	}
	node := parse.Context.Model.Node
	if selected := parse.Context.Selected(); selected != nil {
		node = selected
		if node.Parent != nil && node == node.Parent.DefaultCmd { // a word that is not the default command
			node = node.Parent
		}
	}
	if isFlag {
		if commands := withFlag(node, flag); len(commands) > 0 {
			return fmt.Errorf("%w: it belongs to %s", err, strings.Join(commands, ", "))
		}
	}
	if isArgument && node.Name == "sim" && slices.ContainsFunc(suites.All(), func(s sim.Scenario) bool { return s.Name == argument }) {
		return fmt.Errorf("%w: did you mean %s run %s?", err, node.FullPath(), argument)
	}
	if isArgument && node.Name == "proxy" && strings.Contains(argument, "://") {
		return fmt.Errorf("%w: did you mean --to %s?", err, argument)
	}
	if names := namesOf(node); isArgument && len(names) > 0 {
		return fmt.Errorf("%w: %s", err, nearest.Advice(argument, names))
	}
	return fmt.Errorf("%w: see %s --help", err, node.FullPath())
}

// namesOf lists the commands below a group.
func namesOf(group *kong.Node) (names []string) {
	for _, command := range group.Children {
		if !command.Hidden {
			names = append(names, command.Name)
		}
	}
	return names
}

// withFlag lists the commands below a group that have the flag.
func withFlag(group *kong.Node, flag string) (commands []string) {
	for _, command := range group.Children {
		if command.Hidden {
			continue
		}
		if slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == flag }) {
			commands = append(commands, command.FullPath())
		}
		commands = append(commands, withFlag(command, flag)...)
	}
	return commands
}
