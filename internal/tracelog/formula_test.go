package tracelog

import (
	"math"
	"strings"
	"testing"
)

func TestFormula(t *testing.T) {
	for text, want := range map[string]float64{
		"0.02 + 0.00005*x + 0.03*y": 0.02 + 0.00005*10 + 0.03*4, "x": 10, "`x`": 10, `"x"`: 10, "(x)": 10,
		"-x - -y": -6, "x/y/2": 1.25, "x-y-2": 4, "2*(x-y)": 12,
		"min(x, y, 7)": 4, "max(x)": 10, "max(+3, min(y, x)*2)": 8, "20*ms + 50*us*x": 0.0205,
		"h + m + s + ms + us + ns": 3661.001001001, "1_000": 1000, "5e-5": 5e-5, ".5": .5, "col(2)*x": 40,
		"a.b + a.b.c": 10 + 4,
	} {
		f, problem := parseFormula(text)
		if problem != "" {
			t.Errorf("%s: %s", text, problem)
			continue
		}
		values := map[string]float64{"x": 10, "y": 4, "col(2)": 4, "a.b": 10, "a.b.c": 4}
		var given []float64
		for _, name := range f.names {
			given = append(given, values[name])
		}
		if got := f.value(given); math.Abs(got-want) > 1e-12 {
			t.Errorf("%s is %v, want %v", text, got, want)
		}
	}
	for _, text := range []string{"x", "`some name`", "a.b", "col(3)"} {
		if f, _ := parseFormula(text); !f.plain {
			t.Errorf("%s is no single column", text)
		}
	}
	for text, want := range map[string]string{
		"":            `is "", which is no formula at character 1: expected operand`,
		"x +* y":      `is "x +* y", in which `,
		"x y":         `is "x y", which is no formula at character 3:`,
		"x % y":       `is "x % y", in which % is unknown: want numbers, columns, + - * /,`,
		"!x":          `in which ! is unknown`,
		"x > y":       `in which > is unknown`,
		"0x10":        `in which 0x10 is no number: want such as 0.02 or 5e-5`,
		"'x'":         `in which character 1 begins what a formula does not have`,
		"sqrt(x)":     `in which character 1: want min(...), max(...) or col(3)`,
		"min()":       `in which character 1: want min(...), max(...) or col(3)`,
		"col(0)":      `in which character 1: want the number of a column from 1`,
		"1 + func(){": `is no formula at character`,
		"x[1]":        `in which character 1 begins what a formula does not have`,
	} {
		if _, problem := parseFormula(text); !strings.Contains(problem, want) {
			t.Errorf("%s: %s, want %s", text, problem, want)
		}
	}
}
