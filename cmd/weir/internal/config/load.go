package config

import (
	"fmt"
	"io"
	"os"
	"reflect"
	"syscall"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// Load reads a configuration file, once, and returns its text, too: see [Parse].
func Load(path string) (c *Config, source []byte, err error) {
	source, err = Read(path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w: want a file with a configuration", path, paths.Cause(err))
	}
	c, err = Parse(path, source)
	return c, source, err
}

// Read returns the text of a configuration file. Of a file that is too long it returns the
// beginning, which Parse refuses.
func Read(path string) ([]byte, error) { return readUpTo(path, longest+1) }

// readUpTo reads the beginning of a file. A named pipe without a writer is empty: to wait for a
// writer would delay all later reloads.
func readUpTo(path string, most int64) ([]byte, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, most))
}

// Parse reads a configuration from the text of a file. The configuration is complete: missing
// settings have their defaults. The error has one line for each fault.
func Parse(file string, source []byte) (*Config, error) {
	wrong := new(faults)
	origin := place{file: file}
	root := read(origin, source, wrong)
	if root == nil && len(*wrong) > 0 {
		return nil, wrong.err()
	}
	made := New[Config]()
	d := decoder{origin: origin, places: map[string]place{"": origin}, faults: wrong}
	whole := reflect.ValueOf(&made).Elem()
	if root == nil {
		d.fields(nil, whole, "")
	} else {
		d.value(root, whole, field{}, "")
	}
	made.complete(d.places, wrong)
	if err := wrong.err(); err != nil {
		return nil, err
	}
	return &made, nil
}

// CheckYAML returns an error unless Parse could read the text: one document of plain values, of a
// size that the parser can take. A few bytes of anchors or brackets make a parser take all memory.
func CheckYAML(file string, source []byte) error {
	wrong := new(faults)
	read(place{file: file}, source, wrong)
	return wrong.err()
}
