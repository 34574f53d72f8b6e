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

// objects returns a function that cuts a line of JSON into the named columns.
func objects(names []string) func(line string) (cells []string, problem string) {
	cells := make([]string, len(names))
	return func(line string) ([]string, string) {
		members, err := membersOf(line)
		if err != nil {
			return nil, fmt.Sprintf("is no JSON object: %v: want one a line", err)
		}
		for i, name := range names {
			cells[i] = ""
			if v := members[name]; v != nil {
				cells[i] = fmt.Sprint(v)
			}
		}
		return cells, ""
	}
}

// membersOf returns the members of an object, and those of objects in it by names with a dot.
func membersOf(line string) (members map[string]any, err error) {
	in := json.NewDecoder(strings.NewReader(line))
	in.UseNumber() // to keep the digits
	var object map[string]any
	err = in.Decode(&object)
	if _, more := in.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("it goes on after the object")
	}
	members = map[string]any{}
	flatten(object, "", members)
	return members, err
}

// flatten adds members. A name with a dot wins over the member that it may mean.
func flatten(object map[string]any, outer string, into map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(object)) {
		into[outer+name] = object[name]
		if inside, ok := object[name].(map[string]any); ok {
			flatten(inside, outer+name+".", into)
		}
	}
}
