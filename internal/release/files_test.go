package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/weir-go/weir/internal/must"
)

var moment = time.Date(2026, 11, 22, 12, 0, 0, 0, time.FixedZone("", 3600))

func TestArchives(t *testing.T) {
	of := func(pack func(fstest.MapFS) ([]byte, error), at time.Time) []byte {
		return must.Have(pack(fstest.MapFS{"weir": file([]byte("program"), 0o755, at), "LICENSES.txt": file(nil, 0o644, at)}))(t)
	}
	inTar, inZip := of(tarball, moment), of(zipped, moment)
	if !bytes.Equal(inTar, of(tarball, moment.UTC())) || !bytes.Equal(inZip, of(zipped, moment.UTC())) {
		t.Error("other archives of the same files")
	}
	name := filepath.Join(t.TempDir(), "weir")
	write(t, name+".tar.gz", string(inTar), 0o644)
	if files := unpacked(t, name); string(files["weir"]) != "program" {
		t.Errorf("%q", files)
	}
	archive := must.Have(zip.NewReader(bytes.NewReader(inZip), int64(len(inZip))))(t)
	if info := must.Have(fs.Stat(archive, "weir"))(t); info.Mode() != 0o755 || !info.ModTime().Equal(moment) {
		t.Errorf("%v", info)
	}
	if text, err := fs.ReadFile(archive, "weir"); err != nil || string(text) != "program" {
		t.Errorf("%q (%v)", text, err)
	}
}

func TestModuleWithoutLicense(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"license.go", "README.md", "checklicense.sh"} {
		write(t, filepath.Join(dir, name), "none", 0o644)
	}
	m := module{Path: "example.com/a", Version: "v1.0.0", Dir: dir}
	if _, err := m.licenses(); err == nil || !strings.Contains(err.Error(), "example.com/a v1.0.0 has no license") {
		t.Errorf("%v", err)
	}
	for _, name := range []string{"LICENCE", "LICENSE-MIT", "COPYING", "UNLICENSE", "license.md", "NOTICE.txt", "PATENTS"} {
		write(t, filepath.Join(dir, name), "text of "+name, 0o644)
		if text, err := m.licenses(); err != nil || !strings.Contains(string(text), "text of "+name) {
			t.Errorf("%s: %q (%v)", name, text, err)
		}
		must.Do(t, os.Remove(filepath.Join(dir, name)))
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	full := t.TempDir()
	write(t, filepath.Join(full, "weir.zip"), "", 0o644)
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "want one version that is published"},
		{[]string{"0.1.0"}, `such as v0.1.0, got "0.1.0"`},
		{[]string{"v2.0.0"}, `got "v2.0.0"`},
		{[]string{"v0.1.0", "v0.2.0"}, `got "v0.1.0 v0.2.0"`},
		{[]string{"-out", full, "v0.1.0"}, "is not empty: it has weir.zip"},
		{[]string{"-ou", full}, "flag provided but not defined: -ou"},
	} {
		if err := run(test.args, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}

// binaries installs the command as a user does, and makes the files of the release twice, each from
// empty caches: all bytes are the same, also those of the command.
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

	first, second := files(t, filepath.Join(t.TempDir(), "dist")), files(t, filepath.Join(t.TempDir(), "another", "place"))
	a, b := read(t, filepath.Join(first, "SHA256SUMS")), read(t, filepath.Join(second, "SHA256SUMS"))
	t.Logf("SHA256SUMS:\n%s", a)
	if a != b || strings.Count(a, "weir_") != len(platforms) {
		t.Errorf("want the same %d archives again, got\n%s", len(platforms), b)
	}
	host := filepath.Join(first, "weir_"+rehearsed+"_"+runtime.GOOS+"_"+runtime.GOARCH)
	files := unpacked(t, host)
	if !bytes.Equal(files["weir"], []byte(read(t, installed))) {
		t.Errorf("%s has other bytes than what `go install -trimpath` made", host)
	}
	for _, text := range []string{"=== " + modulePath + "/cmd/weir " + rehearsed, "=== Go go1.", "=== github.com/alecthomas/kong v", "Apache License"} {
		if !strings.Contains(string(files["LICENSES.txt"]), text) {
			t.Errorf("LICENSES.txt of %s lacks %q", host, text)
		}
	}
}

// files makes the files of the release from empty caches, and checks that SHA256SUMS names all of
// them with their checksums.
func files(t *testing.T, dir string) string {
	t.Helper()
	emptyCaches(t)
	must.Do(t, run([]string{"-out", dir, rehearsed}, io.Discard))
	var want strings.Builder
	for _, e := range must.Have(os.ReadDir(dir))(t) {
		if e.Name() != "SHA256SUMS" {
			fmt.Fprintf(&want, "%x  %s\n", sha256.Sum256([]byte(read(t, filepath.Join(dir, e.Name())))), e.Name())
		}
	}
	if got := read(t, filepath.Join(dir, "SHA256SUMS")); got != want.String() {
		t.Errorf("SHA256SUMS has\n%swant\n%s", got, &want)
	}
	return dir
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
