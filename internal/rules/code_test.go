package rules

import (
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

const maxColumns = 100

// narrow limits comments to a width that fits beside a diff. Tables, code and the output of
// examples may be wider.
func narrow(t *tree) (complaints []string) {
	for _, file := range t.sources {
		text, err := fs.ReadFile(t.fsys, file.path)
		if err != nil {
			return append(complaints, err.Error())
		}
		printed := false
		for number, line := range strings.Split(string(text), "\n") {
			comment := strings.TrimLeft(line, "\t")
			printed = strings.HasPrefix(comment, "//") && (printed || strings.HasPrefix(comment, "// Output:"))
			prose := strings.HasPrefix(comment, "// ") && !strings.HasPrefix(comment, "//  ") && !printed
			columns := len("    ")*(len(line)-len(comment)) + utf8.RuneCountInString(comment)
			if prose && columns > maxColumns {
				complaints = append(complaints, fmt.Sprintf("%s:%d: the comment has %d columns, at most %d are allowed: break it",
					file.path, number+1, columns, maxColumns))
			}
		}
	}
	return complaints
}

func TestCommentsAreNarrow(t *testing.T) {
	holds(t, narrow)
	complains(t, narrow, []string{"law/a.go:3: the comment has 101 columns", "law/a.go:6: the comment has 102 columns"},
		"law/a.go", "package law\n\n// "+strings.Repeat("x", 98)+"\n// "+strings.Repeat("ä", 97)+"\n//\t"+strings.Repeat("x", 200)+
			"\n\t// "+strings.Repeat("x", 95)+"\nfunc f() {} // "+strings.Repeat("x", 200)+
			"\n\t// Output: "+strings.Repeat("x", 200)+"\n\t// "+strings.Repeat("x", 200)+"\n")
}

func sleepless(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if !file.test || slices.Contains(file.imported(), "testing/synctest") {
			continue
		}
		for node := range ast.Preorder(file.File) {
			if call, ok := node.(*ast.SelectorExpr); ok && types.ExprString(call) == "time.Sleep" {
				complaints = append(complaints, t.at(node)+": a test must not sleep on the wall clock: "+
					"run it under testing/synctest, or wait for the event itself")
			}
		}
	}
	return complaints
}

func TestTestsDoNotSleep(t *testing.T) {
	holds(t, sleepless)
	complains(t, sleepless, []string{"law/a_test.go:2"},
		"law/a_test.go", "package law; import \"time\"\nfunc f() { time.Sleep(1) }",
		"law/b_test.go", "package law; import (\"time\"; _ \"testing/synctest\")\nfunc g() { time.Sleep(1) }",
		"law/c.go", "package law; import \"time\"\nfunc h() { time.Sleep(1) }")
}

// fusion matches a line of assembly that computes a product and a sum in one instruction.
var fusion = regexp.MustCompile(`\(` + modulePath + `/([^()\t]+:\d+)\)\tFN?M(ADD|SUB)[SD]\t`)

// fused returns the places of our code that assembly fuses. An inlined line occurs more than once.
func fused(assembly string) (places []string) {
	for _, match := range fusion.FindAllStringSubmatch(assembly, -1) {
		places = append(places, match[1])
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// TestSimulationIsTheSameOnEveryMachine forbids fused instructions in the simulator and in our code
// that it drives. It asks the compiler, which fuses across statements and inlined calls too, for
// one kind of machine that has them.
func TestSimulationIsTheSameOnEveryMachine(t *testing.T) {
	const line = "\t0x0004 00004 (github.com/weir-go/weir/law/law.go:6)\tFMADDD\tF1, F0, F2, F3\n"
	if got, want := fused(line+"(math/a.go:2)\tFMADDD\t\n(github.com/weir-go/weir/sim/a.go:3)\tFADDD\t\n"+line), []string{"law/law.go:6"}; !slices.Equal(got, want) {
		t.Fatalf("fused instructions at %q, want %q", got, want)
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-gcflags="+modulePath+"/...=-S", "./internal/suites")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
	assembly, err := build.CombinedOutput()
	if err != nil {
		t.Fatalf("sim does not build for arm64: %v\n%s", err, assembly)
	}
	for _, place := range fused(string(assembly)) {
		t.Errorf("%s: a product is fused with a sum, which only some machines do, and rounded otherwise: "+
			"for a seed to give the same result on all of them, write float64(a*b) + c", place)
	}
}
