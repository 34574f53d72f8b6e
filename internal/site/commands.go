package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

type command struct {
	Name, Path, Help string
}

// listed finds the commands, and the other topics, in the help of weir.
var listed = regexp.MustCompile(`(?m)^  ([a-z-]+(?: [a-z]+)?)  `)

// readCommands builds weir and reads its help. The descriptions of its companions come from their
// package comments, because they take minutes to build.
func readCommands(root string) ([]command, error) {
	bin, err := os.MkdirTemp("", "weir-site")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(bin)
	weir := filepath.Join(bin, "weir")
	if said, err := exec.Command("go", "build", "-C", root, "-o", weir, "./cmd/weir").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build ./cmd/weir: %w\n%s", err, said)
	}
	help := func(args ...string) (string, error) {
		text, err := exec.Command(weir, append([]string{"help"}, args...)...).Output()
		return strings.TrimRight(string(text), "\n"), err
	}
	overview, err := help()
	if err != nil {
		return nil, err
	}
	commands := []command{{"weir", "commands/weir/", overview}}
	_, list, _ := strings.Cut(overview, "Commands:")
	list, topics, _ := strings.Cut(list, "TOPIC:")
	for _, of := range []struct{ prefix, list string }{{"weir ", list}, {"weir help ", topics}} {
		for _, found := range listed.FindAllStringSubmatch(of.list, -1) {
			text, err := help(strings.Fields(found[1])...)
			if err != nil {
				return nil, fmt.Errorf("weir help %s: %w", found[1], err)
			}
			name := of.prefix + found[1]
			commands = append(commands, command{name, "commands/" + strings.ReplaceAll(name, " ", "-") + "/", text})
		}
	}
	for _, name := range []string{"weir-fleet", "weir-work"} {
		companion, err := readPackage(filepath.Join(root, "cmd", name), modulePath+"/cmd/"+name)
		if err != nil {
			return nil, err
		}
		said := companion.Printer().Text(companion.Parser().Parse(companion.Doc))
		path := "commands/" + name + "/"
		if slices.ContainsFunc(commands, func(c command) bool { return c.Path == path }) { // as weir work has
			path = "commands/program-" + name + "/"
		}
		commands = append(commands, command{name, path, strings.TrimRight(string(said), "\n")})
	}
	return commands, nil
}

// commandPages adds the list of commands, and a page for each.
func commandPages(s *site) (index *page, pages []*page, err error) {
	commands, err := readCommands(s.root)
	if err != nil {
		return nil, nil, err
	}
	index = &page{Path: "commands/", Title: "Commands", Short: "Commands"}
	index.make = func() (markup, error) {
		return s.execute("commands", map[string]any{"Base": s.base, "Commands": commands})
	}
	s.add(index)
	for _, c := range commands {
		made := &page{Path: c.Path, Title: c.Name, Short: c.Name}
		made.make = func() (markup, error) { return s.execute("command", c) }
		s.add(made)
		pages = append(pages, made)
	}
	return index, pages, nil
}
