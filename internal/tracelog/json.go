package tracelog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// objects returns a function that cuts a line of JSON into the named columns. A dot leads
// into an object.
func objects(names []string) func(line string) (cells []string, problem string) {
	cells := make([]string, len(names))
	return func(line string) ([]string, string) {
		object, err := objectOf(line)
		if err != nil {
			return nil, fmt.Sprintf("is no JSON object: %v: want one a line", err)
		}
		for i, name := range names {
			cells[i] = ""
			if v := memberOf(object, name); v != nil {
				cells[i] = fmt.Sprint(v)
			}
		}
		return cells, ""
	}
}

func objectOf(line string) (object map[string]any, err error) {
	in := json.NewDecoder(strings.NewReader(line))
	in.UseNumber() // to keep the digits
	err = in.Decode(&object)
	if _, more := in.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("it goes on after the object")
	}
	return object, err
}

func memberOf(object map[string]any, name string) any {
	if v, ok := object[name]; ok {
		return v
	}
	outer, inner, _ := strings.Cut(name, ".")
	if inside, ok := object[outer].(map[string]any); ok {
		return memberOf(inside, inner)
	}
	return nil
}

// keysOf returns the names of the members of an object, and of objects in it.
func keysOf(object map[string]any) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		inside, ok := object[name].(map[string]any)
		if !ok {
			names = append(names, name)
		}
		for _, inner := range keysOf(inside) {
			names = append(names, name+"."+inner)
		}
	}
	return names
}
