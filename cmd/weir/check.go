package main

import (
	"fmt"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/config"
)

type checkCommand struct {
	File string `arg:"" help:"Configuration of the proxy, such as weir.yaml."`
}

// Run checks the file as the proxy would read it.
func (c checkCommand) Run(s streams) error {
	checked, err := config.Load(c.File)
	if err != nil {
		return usageError{err}
	}
	_, err = fmt.Fprintf(s.out, "%s is valid: %s\n", c.File, counts(checked))
	return err
}

func counts(c *config.Config) string {
	var parts []string
	for _, part := range []struct {
		name  string
		count int
	}{
		{"listener", len(c.Listeners)},
		{"upstream", len(c.Upstreams)},
		{"route", len(c.Routes)},
		{"compartment", len(c.Bulkhead().ByKey)},
	} {
		plural := "s"
		if part.count == 1 {
			plural = ""
		}
		parts = append(parts, fmt.Sprintf("%d %s%s", part.count, part.name, plural))
	}
	return strings.Join(parts, ", ")
}

type schemaCommand struct{}

// Run prints the JSON schema of the configuration.
func (schemaCommand) Run(s streams) error {
	_, err := s.out.Write(config.Schema())
	return err
}
