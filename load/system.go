package load

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// system is the root of the files in which Linux describes itself. Tests use other files.
var system fs.FS = os.DirFS("/")

// read reads a file. The error matches ErrUnavailable if there is no such file, or if it may not be
// read.
func read(fsys fs.FS, name string) (string, error) {
	text, err := fs.ReadFile(fsys, name)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return string(text), err
}

// numbers reads a file and returns its words at the given positions. "max" is +Inf.
func numbers(fsys fs.FS, name string, positions ...int) ([]float64, error) {
	text, err := read(fsys, name)
	if err != nil {
		return nil, err
	}
	all := strings.Fields(text)
	values := make([]float64, len(positions))
	for i, at := range positions {
		if at >= len(all) {
			return nil, fmt.Errorf("load: /%s has %d words: want at least %d", name, len(all), at+1)
		}
		if all[at] == "max" {
			values[i] = math.Inf(1)
		} else if values[i], err = strconv.ParseFloat(all[at], 64); err != nil {
			return nil, fmt.Errorf("load: /%s: %w", name, err)
		}
	}
	return values, nil
}

// keyed returns the number of a key, from a file of keys with a number each.
func keyed(fsys fs.FS, name, key string) (float64, error) {
	text, err := read(fsys, name)
	if err != nil {
		return 0, err
	}
	all := strings.Fields(text)
	if i := slices.Index(all, key); i >= 0 && i+1 < len(all) {
		return strconv.ParseFloat(all[i+1], 64)
	}
	return 0, fmt.Errorf("load: /%s has no %s", name, key)
}
