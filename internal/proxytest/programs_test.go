package proxytest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// ours are the programs built from this repository.
var ours = map[string]string{
	"weir":     "github.com/weir-go/weir/cmd/weir",
	"upstream": "github.com/weir-go/weir/internal/proxytest/upstream",
	"plain":    "github.com/weir-go/weir/internal/proxytest/plain",
}

// built holds the path of each of our programs. They are built once, on first use.
var built = sync.OnceValues(func() (map[string]string, error) {
	dir, err := os.MkdirTemp("", "weir-proxytest-")
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	for name, from := range ours {
		paths[name] = filepath.Join(dir, name)
		if text, err := exec.Command("go", "build", "-o", paths[name], from).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build %s: %w\n%s", from, err, text)
		}
	}
	return paths, nil
})

// removeBuilt removes the built programs, once all tests have ended.
func removeBuilt() {
	if paths, err := built(); err == nil {
		_ = os.RemoveAll(filepath.Dir(paths["weir"])) // the system also empties its folder of temporary files
	}
}

// program is the path of one of our programs.
func program(t testing.TB, name string) string {
	t.Helper()
	paths, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return paths[name]
}

// installed is the path of an installed program. Debian keeps servers off the path of users.
func installed(t testing.TB, name string) string {
	t.Helper()
	if path, err := exec.LookPath(name); err == nil {
		return path
	}
	path := filepath.Join("/usr/sbin", name)
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s is missing: run scripts/proxies install", name)
	}
	return path
}

// root is the folder of the repository.
func root() string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "..", "..")
}
