package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

var moment = time.Date(2026, 11, 22, 12, 0, 0, 0, time.FixedZone("", 3600))

func TestArchivesAreTheSameAgain(t *testing.T) {
	entries := []entry{{"LICENSES.txt", 0o644, []byte("all")}, {"weir.exe", 0o755, []byte("program")}}
	for name, pack := range map[string]func([]entry, time.Time) ([]byte, error){"tar": tarball, "zip": zipped} {
		first := must.Have(pack(entries, moment))(t)
		again, err := pack(entries, moment.UTC()) // on a machine in another time zone
		if err != nil || !bytes.Equal(first, again) {
			t.Errorf("%s: another archive (%v)", name, err)
		}
	}
}

func TestTarballHasPrograms(t *testing.T) {
	text := must.Have(tarball([]entry{{"weir", 0o755, []byte("program")}}, moment))(t)
	name := filepath.Join(t.TempDir(), "weir")
	write(t, name+".tar.gz", string(text), 0o644)
	if files := unpacked(t, name); string(files["weir"]) != "program" {
		t.Errorf("%q", files)
	}
}

func TestZipHasPrograms(t *testing.T) {
	text := must.Have(zipped([]entry{{"weir.exe", 0o755, []byte("program")}}, moment))(t)
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil || len(archive.File) != 1 || archive.File[0].Mode() != 0o755 || !archive.File[0].Modified.Equal(moment) {
		t.Fatalf("%+v (%v)", archive.File, err)
	}
	file := must.Have(archive.File[0].Open())(t)
	if text, err := io.ReadAll(file); err != nil || string(text) != "program" {
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
		{[]string{"-platforms", "linux", "v0.1.0"}, `platform "linux": want system/processor`},
		{[]string{"-out", full, "v0.1.0"}, "is not empty: it has weir.zip"},
		{[]string{"-ou", full}, "flag provided but not defined: -ou"},
	} {
		if err := run(test.args, io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, want %q", test.args, err, test.want)
		}
	}
}
