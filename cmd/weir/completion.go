package main

import (
	"embed"
	"fmt"

	"github.com/alecthomas/kong"
)

// scripts call weir complete for candidates, so they know the commands of the installed weir.
//
//go:embed completion
var scripts embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help says how to install the completion script.
func (completionCommand) Help() string {
	return `bash: put "source <(weir completion bash)" into ~/.bashrc.

zsh: put "source <(weir completion zsh)" into ~/.zshrc, below compinit.

fish: weir completion fish >~/.config/fish/completions/weir.fish`
}

// Run prints the script.
func (c completionCommand) Run(s streams) error {
	script, err := scripts.ReadFile("completion/weir." + c.Shell)
	if err != nil {
		return err
	}
	_, err = s.out.Write(script)
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run prints the candidates for the last word, one a line: the word, a tab and its
// description.
func (c completeCommand) Run(command *kong.Context, s streams) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, d := range complete(command.Model.Node, words) {
		if _, err := fmt.Fprintln(s.out, d); err != nil {
			return err
		}
	}
	return nil
}
