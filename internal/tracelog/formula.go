package tracelog

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A formula computes seconds from columns. It is a Go expression, so Go's parser reads it.
type formula struct {
	names   []string // of its columns, in the order of its arguments
	numbers []int    // numbers of its columns used by number, 0 for the others
	plain   bool     // it is a single column
	value   func(values []float64) float64
}

// units are the names of times in formulas, in seconds.
var units = map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600}

const formulaParts = "numbers, columns, + - * /, parentheses, min, max, and the units h, m, s, ms, us and ns"

// parseFormula parses a formula. It returns a fault as the problem of a field.
func parseFormula(text string) (f *formula, problem string) {
	expression, err := parser.ParseExpr(text)
	var wrong scanner.ErrorList
	if errors.As(err, &wrong) && len(wrong) > 0 {
		return nil, fmt.Sprintf("is %q, which is no formula at character %d: %s",
			text, wrong[0].Pos.Column, wrong[0].Msg)
	}
	f = &formula{}
	f.value, problem = f.compile(expression)
	if problem != "" {
		return nil, fmt.Sprintf("is %q, in which %s", text, problem)
	}
	if name, _ := columnName(expression); name != "" && units[name] == 0 || isNumbered(expression) {
		f.plain = true
	}
	return f, ""
}

func (f *formula) compile(e ast.Expr) (value func([]float64) float64, problem string) {
	switch e := e.(type) {
	case *ast.ParenExpr:
		return f.compile(e.X)
	case *ast.UnaryExpr:
		return f.binary(e.Op, &ast.BasicLit{Kind: token.INT, Value: "0"}, e.X)
	case *ast.BinaryExpr:
		return f.binary(e.Op, e.X, e.Y)
	case *ast.CallExpr:
		return f.call(e)
	case *ast.BasicLit:
		if e.Kind == token.INT || e.Kind == token.FLOAT {
			v, err := strconv.ParseFloat(strings.ReplaceAll(e.Value, "_", ""), 64)
			if err != nil {
				return nil, fmt.Sprintf("%s is no number: want such as 0.02 or 5e-5", e.Value)
			}
			return func([]float64) float64 { return v }, ""
		}
	}
	name, quoted := columnName(e)
	if unit := units[name]; unit > 0 && !quoted {
		return func([]float64) float64 { return unit }, ""
	}
	if name == "" {
		return nil, fmt.Sprintf("character %d begins what a formula does not have: want %s", e.Pos(), formulaParts)
	}
	return f.column(name, 0), ""
}

// columnName returns the column name of an expression, with dots for members of an object,
// or in quotes if it would have another meaning.
func columnName(e ast.Expr) (name string, quoted bool) {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name, false
	case *ast.SelectorExpr:
		if outer, _ := columnName(e.X); outer != "" {
			return outer + "." + e.Sel.Name, false
		}
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			name, _ = strconv.Unquote(e.Value)
			return name, true
		}
	}
	return "", false
}

func (f *formula) column(name string, number int) func([]float64) float64 {
	i := slices.Index(f.names, name)
	if i < 0 {
		i = len(f.names)
		f.names, f.numbers = append(f.names, name), append(f.numbers, number)
	}
	return func(values []float64) float64 { return values[i] }
}

var operators = map[token.Token]func(a, b float64) float64{
	token.ADD: func(a, b float64) float64 { return a + b },
	token.SUB: func(a, b float64) float64 { return a - b },
	token.MUL: mul,
	token.QUO: func(a, b float64) float64 { return a / b },
}

func (f *formula) binary(op token.Token, x, y ast.Expr) (value func([]float64) float64, problem string) {
	value, problem = f.fold(operators[op], x, y)
	if problem == "" && operators[op] == nil {
		problem = fmt.Sprintf("%s is unknown: want %s", op, formulaParts)
	}
	return value, problem
}

// fold returns a function that combines the values of expressions, from left to right.
func (f *formula) fold(combine func(a, b float64) float64, of ...ast.Expr) (value func([]float64) float64, problem string) {
	var each []func([]float64) float64
	for _, e := range of {
		x, problem := f.compile(e)
		if problem != "" {
			return nil, problem
		}
		each = append(each, x)
	}
	return func(values []float64) float64 {
		result := each[0](values)
		for _, x := range each[1:] {
			result = combine(result, x(values))
		}
		return result
	}, ""
}

// call compiles min, max and col.
func (f *formula) call(e *ast.CallExpr) (value func([]float64) float64, problem string) {
	if isNumbered(e) {
		number, err := strconv.Atoi(e.Args[0].(*ast.BasicLit).Value)
		if err != nil || number < 1 {
			return nil, fmt.Sprintf("character %d: want the number of a column from 1, as in col(3)", e.Pos())
		}
		return f.column(fmt.Sprintf("col(%d)", number), number), ""
	}
	combine := map[string]func(a, b float64) float64{"min": math.Min, "max": math.Max}
	name, _ := columnName(e.Fun)
	if combine[name] == nil || len(e.Args) == 0 {
		return nil, fmt.Sprintf("character %d: want min(...), max(...) or col(3)", e.Pos())
	}
	return f.fold(combine[name], e.Args...)
}

// isNumbered reports whether an expression is col(3).
func isNumbered(e ast.Expr) bool {
	call, ok := e.(*ast.CallExpr)
	if !ok || len(call.Args) != 1 {
		return false
	}
	name, _ := columnName(call.Fun)
	number, ok := call.Args[0].(*ast.BasicLit)
	return name == "col" && ok && number.Kind == token.INT
}
