package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// TestBinariesAreReproducible builds all files of a release twice, from empty caches and into
// different directories.
func TestBinariesAreReproducible(t *testing.T) {
	if !*builds {
		t.Skip("compiles both commands twelve times: -builds runs it")
	}
	r := rehearse(t)
	r.resolveOnly(t)
	if out, err := r.release(rehearsed, "--push"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env, _ := r.proxy(t)
	r.use(t, env)
	first := files(t, filepath.Join(t.TempDir(), "dist"), allCommands, allPlatforms)
	second := files(t, filepath.Join(t.TempDir(), "another", "place"), allCommands, allPlatforms)
	t.Logf("SHA256SUMS:\n%s", read(t, filepath.Join(first, "SHA256SUMS")))
	if a, b := read(t, filepath.Join(first, "SHA256SUMS")), read(t, filepath.Join(second, "SHA256SUMS")); a != b {
		t.Errorf("not the same bytes:\n%s\n%s", a, b)
	}
	archives, err := filepath.Glob(filepath.Join(first, "weir_*"))
	if want := strings.Count(allPlatforms, ",") + 1; err != nil || len(archives) != want {
		t.Errorf("%d archives (%v), want %d", len(archives), err, want)
	}
}

// files builds the files of the release from empty caches.
func files(t *testing.T, dir, commands, platforms string) string {
	t.Helper()
	emptyCaches(t)
	must.Do(t, run([]string{"-commands", commands, "-platforms", platforms, "-out", dir, rehearsed}, io.Discard))
	summed(t, dir)
	return dir
}

// binaries installs the command as a user does and builds the files of the release for this
// platform, each from its own empty caches. The bytes of the command must be the same.
func binaries(t *testing.T) {
	t.Helper()
	bin := t.TempDir()
	emptyCaches(t)
	output(t, bin, []string{"GOBIN=" + bin}, "go", "install", "-trimpath", modulePath+"/cmd/weir@"+rehearsed)
	installed := filepath.Join(bin, "weir")
	if said := output(t, bin, nil, installed, "--version"); !strings.HasPrefix(said, "weir "+rehearsed+" ") {
		t.Errorf("it says %q of its version, want %s", said, rehearsed)
	}
	if runtime.GOOS == "linux" {
		static(t, installed)
	}

	dist := files(t, filepath.Join(t.TempDir(), "dist"), "weir", runtime.GOOS+"/"+runtime.GOARCH)
	host := filepath.Join(dist, "weir_"+rehearsed+"_"+runtime.GOOS+"_"+runtime.GOARCH)
	files := unpacked(t, host)
	if !bytes.Equal(files["weir"], []byte(read(t, installed))) {
		t.Errorf("%s has other bytes than what `go install -trimpath` made", host)
	}
	for _, text := range []string{"=== " + modulePath + "/cmd/weir " + rehearsed, "=== Go go1.", "=== github.com/alecthomas/kong v", "Apache License"} {
		if !strings.Contains(string(files["LICENSES.txt"]), text) {
			t.Errorf("LICENSES.txt of %s lacks %q", host, text)
		}
	}
	if err := run([]string{"-out", dist, rehearsed}, io.Discard); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("a second time into the same directory: %v", err)
	}
}

// static checks that a binary needs no dynamic linker.
func static(t *testing.T, name string) {
	t.Helper()
	file := must.Have(elf.Open(name))(t)
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s is linked dynamically", name)
		}
	}
}

// unpacked returns the files of an archive.
func unpacked(t *testing.T, name string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	compressed := must.Have(gzip.NewReader(strings.NewReader(read(t, name+".tar.gz"))))(t)
	for archive := tar.NewReader(compressed); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = must.Have(io.ReadAll(archive))(t)
	}
}

// summed checks that SHA256SUMS names all files with their checksums.
func summed(t *testing.T, dir string) {
	t.Helper()
	var want strings.Builder
	entries := must.Have(os.ReadDir(dir))(t)
	for _, e := range entries {
		if e.Name() != "SHA256SUMS" {
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256([]byte(read(t, filepath.Join(dir, e.Name())))), e.Name())
		}
	}
	if got := read(t, filepath.Join(dir, "SHA256SUMS")); got != want.String() {
		t.Errorf("SHA256SUMS has\n%swant\n%s", got, &want)
	}
}
