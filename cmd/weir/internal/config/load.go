package config

import (
	"fmt"
	"io"
	"os"
	"reflect"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// Load reads the configuration of a file, with what the environment sets of it: see [Parse].
func Load(path string, environ []string) (*Config, error) {
	source, err := readUpTo(path, longest+1) // so that Parse refuses what is longer
	if err != nil {
		return nil, fmt.Errorf("%s: %w: want a file with a configuration", path, paths.Cause(err))
	}
	return Parse(path, source, environ)
}

// readUpTo reads the beginning of a file.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// Parse reads a configuration from the text of a file. Variables in environ, NAME=value, replace
// settings of it: their names are WEIR and the path to the setting with two underscores between its
// parts, as WEIR__UPSTREAMS__API__ADDRESSES or WEIR__LISTENERS__0__ADDRESS, and their values are
// YAML.
//
// The configuration is complete: all that the file leaves out has its default. The error has one
// line for each thing that is wrong.
func Parse(file string, source []byte, environ []string) (*Config, error) {
	wrong := new(faults)
	origin := place{file: file}
	root := read(origin, "", source, wrong)
	if root == nil && len(*wrong) > 0 {
		return nil, wrong.err()
	}
	if root == nil {
		root = &node{kind: object, at: origin}
	}
	override(root, environ, wrong)

	made := New[Config]()
	d := decoder{places: map[string]place{}, faults: wrong}
	d.value(root, reflect.ValueOf(&made).Elem(), field{}, "")
	made.complete(d.places, wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	return &made, nil
}

// Complete adds what a configuration made in Go leaves out, as Parse does for a file: a listener, a
// route, and which upstream and compartment a route has. Then it checks the whole. The parts are to
// be made by [New], for a 0 in them counts as one that was set.
func (c *Config) Complete() error {
	wrong := new(faults)
	c.complete(nil, wrong)
	return wrong.err()
}
