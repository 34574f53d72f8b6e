package rules

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"testing/fstest"
)

// exactly are the packages that a simulation consists of.
var exactly = []string{"internal/portable", "pid", "law", "internal/window", "internal/queue", "internal/virtual", "internal/admit", "sim", "internal/suites", "internal/tracelog", "internal/maxmin"}

// inexact are the functions of package math that some machines implement in assembly, or
// with other instructions, and so with other last bits.
var inexact = []string{
	"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atan2", "Atanh", "Cbrt", "Cos", "Cosh", "Erf", "Erfc", "Erfcinv", "Erfinv",
	"Exp", "Exp2", "Expm1", "Gamma", "Hypot", "J0", "J1", "Jn", "Lgamma", "Log", "Log10", "Log1p", "Log2", "Pow",
	"Sin", "Sincos", "Sinh", "Tan", "Tanh", "Y0", "Y1", "Yn",
}

// portable forbids them.
func portable(t *tree) (complaints []string) {
	for _, file := range t.sources {
		if file.test || !slices.Contains(exactly, file.dir) {
			continue
		}
		for _, use := range file.uses("math", inexact...) {
			complaints = append(complaints, fmt.Sprintf("%s: this function of package math differs between machines in its last bits: "+
				"for a seed to give the same result on all of them, take that of internal/portable, or add it there", t.at(use)))
		}
	}
	return complaints
}

func TestSimulationNeedsNoInexactFunctions(t *testing.T) {
	holds(t, portable)
	complains(t, portable, []string{"law/a.go:3", "pid/a.go:3"},
		"law/a.go", "package law\nimport \"math\"\nvar _ = math.Exp(1) + math.Sqrt(2)",
		"pid/a.go", "package pid\nimport m \"math\"\nvar _ = m.Log1p",
		"law/a_test.go", "package law\nimport \"math\"\nvar _ = math.Exp(1)",
		"weir.go", "package weir; import \"math\"; var _ = math.Exp(1)")
}

// fusion matches a line of assembly that computes a product and a sum in one instruction.
var fusion = regexp.MustCompile(`\(` + modulePath + `/([^()\t]+:\d+)\)\tFN?M(ADD|SUB)[SD]\t`)

// exact forbids fused instructions in the simulator and in our code that it drives, in a
// tree that lies in root. It asks the compiler, which fuses across statements and inlined
// calls too, for one kind of machine that has them.
func exact(root string) func(*tree) []string {
	return func(*tree) (complaints []string) {
		build := exec.Command("go", "build", "-trimpath", "-gcflags="+modulePath+"/...=-S", "./internal/suites")
		build.Dir = root
		build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=arm64", "CGO_ENABLED=0", "GOFLAGS=", "GOWORK=off", "GOPROXY=off")
		assembly, err := build.CombinedOutput()
		if err != nil {
			return []string{fmt.Sprintf("sim: does not build for arm64: %v\n%s", err, assembly)}
		}
		for _, match := range fusion.FindAllStringSubmatch(string(assembly), -1) {
			complaints = append(complaints, match[1]+": a product is fused with a sum, which only some machines do, "+
				"and rounded otherwise: for a seed to give the same result on all of them, write float64(a*b) + c")
		}
		slices.Sort(complaints)
		return slices.Compact(complaints) // an inlined line occurs more than once
	}
}

func TestSimulationIsTheSameOnEveryMachine(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip(err)
	}
	holds(t, exact(filepath.Join("..", "..")))

	files, root := []string{
		"go.mod", "module " + modulePath + "\n\ngo 1.26\n",
		"sim/sim.go", "package sim\n" +
			"import \"" + modulePath + "/law\"\n" +
			"func F(x float64) float64 { return law.F(x, x) + x }\n",
		"internal/suites/suites.go", "package suites\n" +
			"import \"" + modulePath + "/sim\"\n" +
			"var F = sim.F\n",
		"law/law.go", `package law
func F(x, y float64) float64 { return x * y }
func G(x, y float64) float64 { return float64(x*y) + x }
func H(x, y float32) float32 {
	product := x * y
	return x - product
}
`,
	}, t.TempDir()
	broken := fstest.MapFS{}
	for pair := range slices.Chunk(files, 2) {
		broken[pair[0]] = &fstest.MapFile{Data: []byte(pair[1])}
	}
	if err := os.CopyFS(root, broken); err != nil {
		t.Fatal(err)
	}
	complains(t, exact(root), []string{"law/law.go:6: a product", "sim/sim.go:3: a product"}, files...)
}
