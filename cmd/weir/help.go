package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A topic is a subject of weir help that is no command.
type topic struct {
	name, about string
	print       func(out io.Writer)
}

var topics = []topic{
	{"laws", "the control laws, with their settings", printLaws},
	{"scenarios", "systems of weir sim, and how to write one", printScenarios},
	{"trace", "how weir sim trace reads a log", printText("trace.txt")},
	{"columns", "the columns of all tables", printText("columns.txt")},
	{"exit-codes", "how weir ends", printExitCodes},
}

type helpCommand struct {
	Topic []string `arg:"" optional:"" help:"A command, such as sim run, or a topic: laws, scenarios, trace, columns or exit-codes."`
}

// Run prints the help of a command or a topic.
func (c helpCommand) Run(command *kong.Context, s streams) error {
	root := command.Model.Node
	if len(c.Topic) == 1 {
		if i := slices.IndexFunc(topics, func(t topic) bool { return t.name == c.Topic[0] }); i >= 0 {
			topics[i].print(s.out)
			return nil
		}
	}
	node := root
	for _, name := range c.Topic {
		i := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == name && !n.Hidden })
		if i < 0 {
			return usageError{fmt.Errorf("no help on %q: want one of the words that weir help lists", strings.Join(c.Topic, " "))}
		}
		node = node.Children[i]
	}
	return helpOf(c.Topic, s)
}

// helpOfGroup prints the help of a group of commands that was called without a command.
type helpOfGroup struct{}

// Run prints the help of the group.
func (helpOfGroup) Run(command *kong.Context, s streams) error {
	return helpOf(strings.Fields(command.Selected().Parent.Path()), s)
}

// helpOf prints the help of a command, as --help does.
func helpOf(command []string, s streams) error {
	parser, err := newParser(s.out, s.err, func(int) {})
	if err != nil {
		return err
	}
	_, _ = parser.Parse(append(slices.Clone(command), "--help")) // --help wins over any other error in the command
	return nil
}

// printHelp prints the help of a command. For weir itself it adds the list of topics.
func printHelp(options kong.HelpOptions, command *kong.Context) error {
	if err := kong.DefaultHelpPrinter(options, command); err != nil || command.Selected() != nil {
		return err
	}
	fmt.Fprint(command.Stdout, "\nHelp on more than a command, by weir help TOPIC:\n")
	var list []definition
	for _, t := range topics {
		list = append(list, definition{t.name, t.about})
	}
	define(command.Stdout, list)
	return nil
}
