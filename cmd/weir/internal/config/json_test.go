package config

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestJSONKeepsItsLines(t *testing.T) {
	const text = `# a comment
name: x

list:
  - a: 1
    b: [2, 3.5,
      true]
  -
    c: ~
text: |
  one
  two
quoted: "say \"so\""
numbers: {a: 010, b: +5, c: 1.0e-3, d: 1e1, e: -.5, f: 5.}
empty: {}
`
	const want = `
{"name":"x",

"list":
[{"a":1,
"b":[2,3.5,
true]},

{"c":null}],
"text":"one\ntwo\n",


"quoted":"say \"so\"",
"numbers":{"a":10,"b":5,"c":1.0e-3,"d":"1e1","e":-0.5,"f":5.0},
"empty":{}}`
	got, err := JSON("x.yaml", []byte(text))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

// TestNumbersHaveOneValue: a number means the same in a scenario as in a configuration, or neither
// takes it.
func TestNumbersHaveOneValue(t *testing.T) {
	for _, text := range []string{
		"0", "-0", "00", "8", "08", "010", "-010", "+5", "0x10", "0o7", "0b1", "1_000", "1e1", "1.0e1", "1.e1", "5.", "5.0", "05.50", ".5", "-.5", "+.5", "0.0", "-0.0",
		".inf", "-.inf", ".nan", "1.0e999", "99999999999999999999", "-99999999999999999999", "0x1p4", "Infinity",
	} {
		made, refused := JSON("x.yaml", []byte(text))
		for _, kind := range []reflect.Type{reflect.TypeFor[int](), reflect.TypeFor[float64]()} {
			wrong := new(faults)
			want, got := reflect.New(kind), reflect.New(kind)
			d := decoder{places: map[string]place{}, faults: wrong}
			d.value(read(place{file: "x.yaml"}, []byte(text), wrong), want.Elem(), field{}, "")
			err := refused
			if err == nil {
				err = json.Unmarshal(made, got.Interface())
			}
			if a, b := want.Elem().Interface(), got.Elem().Interface(); (wrong.err() == nil) != (err == nil) || wrong.err() == nil && a != b {
				t.Errorf("%s is %v (%v) in a configuration, %v (%v) in a scenario", text, a, wrong.err(), b, err)
			}
		}
	}
}

func TestNumbersThatAreNotDecimal(t *testing.T) {
	const text = "a: 5\nb: [1,\n  {c: 0x10}]\nd: 1_000\ne: .inf\n"
	const want = "x.yaml:3:7: b[1].c is 0x10: want a decimal number, such as 10 or 0.5\n" +
		"x.yaml:4:4: d is 1_000: want a decimal number, such as 10 or 0.5\n" +
		"x.yaml:5:4: e is .inf: want a decimal number, such as 10 or 0.5"
	if _, err := JSON("x.yaml", []byte(text)); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}
