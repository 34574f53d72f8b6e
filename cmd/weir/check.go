package main

import (
	"fmt"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

type checkCommand struct {
	File string `arg:"" help:"Configuration of the proxy, such as weir.yaml."`
}

// Run checks the file as the proxy would read it.
func (c checkCommand) Run(s streams) error {
	if _, _, err := config.Load(c.File); err != nil {
		return usageError{err}
	}
	_, err := fmt.Fprintf(s.out, "%s is valid\n", c.File)
	return err
}

type schemaCommand struct{}

// Run prints the JSON schema of the configuration.
func (schemaCommand) Run(s streams) error {
	_, err := s.out.Write(config.Schema())
	return err
}
