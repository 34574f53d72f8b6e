package tracelog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// objects returns a function that cuts a line of JSON into the named columns.
func objects(names []string) func(line string) (cells []string, problem string) {
	cells := make([]string, len(names))
	return func(line string) ([]string, string) {
		object, err := objectOf(line)
		if err != nil {
			return nil, fmt.Sprintf("is no JSON object: %v: want one a line", err)
		}
		for i, name := range names {
			cells[i] = ""
			if v, _ := memberOf(object, name); v != nil {
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

// memberOf returns a member of an object. A dot leads into an inner object, unless a member has the
// dot in its name.
func memberOf(object map[string]any, name string) (v any, found bool) {
	if v, found = object[name]; found {
		return v, true
	}
	for dot := strings.LastIndexByte(name, '.'); dot >= 0; dot = strings.LastIndexByte(name[:dot], '.') {
		if inside, ok := object[name[:dot]].(map[string]any); ok {
			if v, found = memberOf(inside, name[dot+1:]); found {
				return v, true
			}
		}
	}
	return nil, false
}

// namesOf adds the names of the members that are no objects, by which memberOf finds them.
func namesOf(object map[string]any, outer string, names map[string]bool) {
	for name, v := range object {
		if inside, ok := v.(map[string]any); ok {
			namesOf(inside, outer+name+".", names)
		} else {
			names[outer+name] = true
		}
	}
}
