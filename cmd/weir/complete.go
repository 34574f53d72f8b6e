package main

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weir-go/weir/cmd/weir/internal/simulate"
	"github.com/weir-go/weir/internal/suites"
)

type candidate struct{ word, about string }

// files asks the shell to complete file names.
var files = candidate{word: ":files"}

func (c candidate) String() string {
	if c.about == "" {
		return c.word
	}
	about, _, _ := strings.Cut(c.about, ". ") // the first sentence
	return c.word + "\t" + about
}

// complete returns the candidates for the last of the words that follow weir.
func complete(root *kong.Node, words []string) []candidate {
	if len(words) == 0 {
		words = []string{""}
	}
	before, word := words[:len(words)-1], words[len(words)-1]
	node, flag := follow(root, before)
	name, value, assigned := strings.Cut(word, "=")
	switch {
	case flag != nil:
		return beginning(strings.TrimPrefix(word, "="), valuesOf(flag.Value)) // bash splits --law=e at the equals sign
	case assigned && strings.HasPrefix(name, "--"):
		flag := flagOf(node, name)
		if flag == nil {
			return nil
		}
		found := beginning(value, valuesOf(flag.Value))
		for i := range found {
			if found[i] != files {
				found[i].word = name + "=" + found[i].word
			}
		}
		return found
	case strings.HasPrefix(word, "-"):
		return beginning(word, flagsOf(node))
	}
	return beginning(word, argumentsOf(node))
}

// follow returns the command that the words name, and the flag whose value comes next, if
// any.
func follow(node *kong.Node, words []string) (*kong.Node, *kong.Flag) {
	var flag *kong.Flag
	for _, word := range words {
		switch {
		case flag != nil && word == "=": // bash splits --law=e at the equals sign
		case flag != nil:
			flag = nil
		case strings.HasPrefix(word, "-"):
			if flag = flagOf(node, word); flag != nil && flag.IsBool() {
				flag = nil
			}
		default:
			if at := slices.IndexFunc(node.Children, func(n *kong.Node) bool { return n.Name == word }); at >= 0 {
				node = node.Children[at]
			}
		}
	}
	return node, flag
}

// eachFlag lists the flags of a command and of its default command.
func eachFlag(node *kong.Node) (all []*kong.Flag) {
	for _, flags := range node.AllFlags(true) {
		all = append(all, flags...)
	}
	if node.DefaultCmd != nil {
		all = append(all, node.DefaultCmd.Flags...)
	}
	return all
}

func flagOf(node *kong.Node, name string) *kong.Flag {
	all := eachFlag(node)
	if i := slices.IndexFunc(all, func(f *kong.Flag) bool { return "--"+f.Name == name }); i >= 0 {
		return all[i]
	}
	return nil
}

func flagsOf(node *kong.Node) (all []candidate) {
	for _, flag := range eachFlag(node) {
		all = append(all, candidate{"--" + flag.Name, flag.Help})
	}
	return all
}

// argumentsOf lists subcommands and the values of positional arguments.
func argumentsOf(node *kong.Node) (all []candidate) {
	for _, child := range node.Children {
		if !child.Hidden {
			all = append(all, candidate{child.Name, child.Help})
		}
	}
	for _, value := range node.Positional {
		all = append(all, valuesOf(value)...)
	}
	return all
}

// valuesOf lists the values of a flag or an argument. It is empty if any text is allowed.
func valuesOf(value *kong.Value) (all []candidate) {
	switch value.Name {
	case "law":
		for _, name := range lawNames() {
			all = append(all, candidate{name, aboutLaws[name]})
		}
	case "scenario", "on", "phases":
		for _, s := range suites.All() {
			all = append(all, candidate{s.Name, s.About})
		}
		return append(all, files)
	case "topic":
		for _, t := range topics {
			all = append(all, candidate{t.name, t.about})
		}
	case "file", "source", "config", "plot", "with", "oracles", "embedded", "creds", "token":
		return []candidate{files}
	case "panel":
		return words(simulate.Panels()...)
	case "delimiter":
		return words("comma", "semicolon", "tab", "space")
	case "format":
		return words("csv", "json", "common", "combined")
	}
	if value.Enum != "" {
		return words(value.EnumSlice()...)
	}
	return all
}

func words(names ...string) (all []candidate) {
	for _, name := range names {
		all = append(all, candidate{word: name})
	}
	return all
}

func beginning(word string, all []candidate) []candidate {
	return slices.DeleteFunc(all, func(c candidate) bool { return c != files && !strings.HasPrefix(c.word, word) })
}
