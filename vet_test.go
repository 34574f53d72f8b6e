package weir_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestVetFlagsCopiesOfPermits has go vet look at a program that copies one.
func TestVetFlagsCopiesOfPermits(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.com/copies\n\ngo 1.26\n\nrequire github.com/weir-go/weir v0.0.0\n\n" +
			"replace github.com/weir-go/weir => " + here + "\n",
		"main.go": `package main

import (
	"context"

	"github.com/weir-go/weir"
)

func main() {
	lim := weir.Must(weir.New(weir.Config{}))
	permit, _ := lim.TryAcquire(context.Background())
	twin := permit
	give(permit)
	twin.Done(nil)
}

func give(permit weir.Permit) { permit.Done(nil) }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", ".")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GOPROXY=off")
	out, err := vet.CombinedOutput()
	if err == nil {
		t.Fatal("vet has nothing to say")
	}
	for _, want := range []string{"main.go:12", "main.go:13", "main.go:17", "weir.Permit contains"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("vet does not say %q in\n%s", want, out)
		}
	}
}
