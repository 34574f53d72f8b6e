package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// A command is a command of weir, with its help.
type command struct {
	Name, Path, Help string
}

// listed finds the commands in the help of weir.
var listed = regexp.MustCompile(`(?m)^  ([a-z]+(?: [a-z]+)?)  `)

// readCommands builds weir and reads its help. The description of weir-storm comes from its
// package comment, because it takes minutes to build.
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
	_, list, _ := strings.Cut(overview, "Commands:")
	list, _, _ = strings.Cut(list, "\n\n")
	commands := []command{{"weir", "commands/weir/", overview}}
	for _, found := range listed.FindAllStringSubmatch(list, -1) {
		text, err := help(strings.Fields(found[1])...)
		if err != nil {
			return nil, fmt.Errorf("weir help %s: %w", found[1], err)
		}
		commands = append(commands, command{"weir " + found[1], "commands/weir-" + strings.ReplaceAll(found[1], " ", "-") + "/", text})
	}
	storm, err := readPackage(filepath.Join(root, "cmd/weir-storm"), modulePath+"/cmd/weir-storm")
	if err != nil {
		return nil, err
	}
	said := storm.Printer().Text(storm.Parser().Parse(storm.Doc))
	return append(commands, command{"weir-storm", "commands/weir-storm/", strings.TrimRight(string(said), "\n")}), nil
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
