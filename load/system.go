package load

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// system is where Linux describes itself; tests have their own.
var system fs.FS = os.DirFS("/")

// numbers reads a file of words and returns the ones at the given positions.
func numbers(fsys fs.FS, name string, positions ...int) ([]float64, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, missing(err)
	}
	words := strings.Fields(string(text))
	values := make([]float64, len(positions))
	for i, at := range positions {
		if at >= len(words) {
			return nil, fmt.Errorf("load: /%s has %d words: want at least %d", name, len(words), at+1)
		}
		if values[i], err = strconv.ParseFloat(words[at], 64); err != nil {
			return nil, fmt.Errorf("load: /%s: %w", name, err)
		}
	}
	return values, nil
}

// keyed reads a file of lines with a key and a number.
func keyed(fsys fs.FS, name, key string) (float64, error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return 0, missing(err)
	}
	for line := range bytes.Lines(text) {
		if words := strings.Fields(string(line)); len(words) == 2 && words[0] == key {
			return strconv.ParseFloat(words[1], 64)
		}
	}
	return 0, fmt.Errorf("load: /%s has no %s", name, key)
}

// missing turns the error of a file that is not there into ErrUnavailable.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return err
}

// limit reads a file that says a number or "max".
func limit(fsys fs.FS, name string) (value float64, limited bool, err error) {
	text, err := fs.ReadFile(fsys, name)
	if err != nil {
		return 0, false, missing(err)
	}
	if strings.HasPrefix(string(text), "max") {
		return 0, false, nil
	}
	v, err := numbers(fsys, name, 0)
	if err != nil {
		return 0, false, err
	}
	return v[0], true, nil
}
