package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

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
