package config

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/weir-go/weir/internal/nearest"
)

// prefix begins the configuration's variables. The variables of flags have one underscore
// there.
const prefix = "WEIR__"

// A variable of the environment replaces one value.
type variable struct {
	name  string
	parts []string // of the path
	value string
}

// override puts the values of variables into the tree of the file.
func override(root *node, environ []string, wrong *faults) {
	var last variable
	for _, v := range variables(environ) {
		if same(v.parts, last.parts) {
			wrong.add(place{variable: v.name}, "", "sets what %s sets: want one of them", last.name)
			continue
		}
		o := overrider{variable: v, wrong: wrong}
		o.put(root, reflect.TypeFor[Config](), v.parts, "")
		last = v
	}
}

// variables returns the configuration's variables, sorted so that objects and lists precede
// the values in them, and list items are in their order.
func variables(environ []string) (all []variable) {
	for _, text := range environ {
		name, value, _ := strings.Cut(text, "=")
		if len(name) < len(prefix) || !strings.EqualFold(name[:len(prefix)], prefix) {
			continue
		}
		all = append(all, variable{name, strings.Split(name[len(prefix):], "__"), value})
	}
	slices.SortFunc(all, func(a, b variable) int {
		return cmp.Or(slices.CompareFunc(a.parts, b.parts, func(a, b string) int {
			return cmp.Or(cmp.Compare(index(a), index(b)), strings.Compare(folded(a), folded(b)))
		}), strings.Compare(a.name, b.name))
	})
	return all
}

func same(a, b []string) bool {
	return slices.EqualFunc(a, b, func(a, b string) bool { return folded(a) == folded(b) })
}

// folded returns a name as variables spell it, without lower case, dots and hyphens.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("-", "_", ".", "_").Replace(name))
}

// index parses the number of an item. It returns -1 if part is no number.
func index(part string) int {
	n, err := strconv.Atoi(part)
	if err != nil || n < 0 || strconv.Itoa(n) != part {
		return -1
	}
	return n
}

// An overrider puts the value of one variable into the tree.
type overrider struct {
	variable
	wrong *faults
}

func (o overrider) fault(format string, args ...any) {
	o.wrong.add(place{variable: o.name}, "", format, args...)
}

// put sets the value below n. The value has, or gets, type t.
func (o overrider) put(n *node, t reflect.Type, parts []string, path string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if len(parts) == 0 {
		o.replace(n, path)
		return
	}
	switch {
	case isScalar(t):
		o.fault("goes on after %s, which is %s: want a setting", path, field{}.want(t))
	case t.Kind() == reflect.Struct:
		fields := fieldsOf(t)
		at := slices.IndexFunc(fields, func(f field) bool { return folded(f.name) == folded(parts[0]) })
		if at < 0 {
			o.fault("has an unknown part %s: %s", quoted(parts[0]), nearest.Advice(strings.ToLower(parts[0]), names(fields)))
			return
		}
		o.member(n, fields[at].name, fields[at].kind, parts[1:], path)
	case t.Kind() == reflect.Map:
		o.entry(n, t.Elem(), parts, path)
	case t.Kind() == reflect.Slice:
		o.item(n, t.Elem(), parts, path)
	}
}

// replace gives n the value of the variable.
func (o overrider) replace(n *node, path string) {
	at, before := place{variable: o.name}, len(*o.wrong)
	switch value := read(at, path, []byte(o.value), o.wrong); {
	case value != nil:
		*n = *value
	case len(*o.wrong) == before:
		*n = node{kind: null, at: at}
	}
}

// becomes turns n into an object or a list unless it already is one.
func (o overrider) becomes(n *node, k kind) {
	if n.kind != k {
		*n = node{kind: k, at: place{variable: o.name}}
	}
}

// made returns a new node for a value that the file does not have, or nil if the variable is
// wrong.
func (o overrider) made(t reflect.Type, parts []string, path string) *node {
	n := &node{kind: absent}
	if o.put(n, t, parts, path); n.kind == absent {
		return nil
	}
	return n
}

func (o overrider) member(n *node, name string, t reflect.Type, parts []string, path string) {
	o.becomes(n, object)
	path = join(path, name)
	if found := n.member(name); found != nil {
		o.put(found.value, t, parts, path)
	} else if made := o.made(t, parts, path); made != nil {
		n.keys = append(n.keys, member{name, made.at, made})
	}
}

// entry sets the value in the entry with that name, or in a new one with the name in lower
// case.
func (o overrider) entry(n *node, t reflect.Type, parts []string, path string) {
	var fitting []string
	for _, m := range n.keys {
		if folded(m.name) == folded(parts[0]) {
			fitting = append(fitting, m.name)
		}
	}
	switch len(fitting) {
	case 0:
		o.member(n, strings.ToLower(parts[0]), t, parts[1:], path)
	case 1:
		o.member(n, fitting[0], t, parts[1:], path)
	default:
		o.fault("fits %s of %s: rename all but one", strings.Join(fitting, " and "), path)
	}
}

// item sets the value in an existing item of the list or in a new last one.
func (o overrider) item(n *node, t reflect.Type, parts []string, path string) {
	o.becomes(n, list)
	at := index(parts[0])
	if at < 0 || at > len(n.items) {
		o.fault("has the part %s for an item of %s: want %s", quoted(parts[0]), path, numbers(len(n.items)))
		return
	}
	path = item(path, at)
	if at < len(n.items) {
		o.put(n.items[at], t, parts[1:], path)
	} else if made := o.made(t, parts[1:], path); made != nil {
		n.items = append(n.items, made)
	}
}

func numbers(items int) string {
	if items == 0 {
		return "0 for the first"
	}
	return fmt.Sprintf("0 to %d, or %d for one more", items-1, items)
}
