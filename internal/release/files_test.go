package main

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/weir-go/weir/internal/must"
)

var moment = time.Date(2026, 11, 22, 12, 0, 0, 0, time.FixedZone("", 3600))

// schemaOfBills is the schema of CycloneDX 1.6, from its library.
func schemaOfBills(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir := strings.TrimSpace(output(t, ".", nil, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/CycloneDX/cyclonedx-go"))
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, file := range map[string]string{
		"bom-1.6.schema.json": "bom-1.6.schema.json", "spdx.schema.json": "spdx.schema.json", "jsf-0.82.schema.json": "jsf-0.82.schemax.json",
	} {
		text := must.Have(jsonschema.UnmarshalJSON(strings.NewReader(read(t, filepath.Join(dir, "schema", file)))))(t)
		must.Do(t, compiler.AddResource("http://cyclonedx.org/schema/"+name, text))
	}
	schema := must.Have(compiler.Compile("http://cyclonedx.org/schema/bom-1.6.schema.json"))(t)
	return schema
}

func valid(t *testing.T, schema *jsonschema.Schema, bill string) {
	t.Helper()
	document := must.Have(jsonschema.UnmarshalJSON(strings.NewReader(bill)))(t)
	if err := schema.Validate(document); err != nil {
		t.Error(err)
	}
}

// madeUp are two binaries that have a module in common.
func madeUp() []binary {
	yaml := &debug.Module{Path: "example.com/yaml", Version: "v1.2.3", Sum: "h1:" + strings.Repeat("A", 43) + "="}
	info := func(name string) *buildinfo.BuildInfo {
		return &buildinfo.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: modulePath + "/cmd/" + name, Version: "v0.1.0"}, Deps: []*debug.Module{yaml}}
	}
	return []binary{{"weir", []byte("first"), info("weir")}, {"weir-plot", []byte("second"), info("weir-plot")}}
}

func TestBillOfMaterials(t *testing.T) {
	text := must.Have(materials("v0.1.0", madeUp(), moment))(t)
	valid(t, schemaOfBills(t), string(text))
	var bill struct {
		Metadata     struct{ Timestamp string }
		Components   []struct{ Type, Name, Version, Purl string }
		Dependencies []struct {
			Ref       string
			DependsOn []string
		}
	}
	must.Do(t, json.Unmarshal(text, &bill))
	if bill.Metadata.Timestamp != "2026-11-22T11:00:00Z" {
		t.Errorf("the timestamp is %s, want that of the version", bill.Metadata.Timestamp)
	}
	var purls []string
	for _, c := range bill.Components {
		purls = append(purls, c.Purl)
	}
	own := "pkg:golang/" + modulePath + "/cmd/"
	if got, want := strings.Join(purls, " "), own+"weir@v0.1.0 "+own+"weir-plot@v0.1.0 pkg:golang/std@1.26.8 pkg:golang/example.com/yaml@v1.2.3"; got != want {
		t.Errorf("components %s, want %s", got, want)
	}
	if got, want := strings.Join(bill.Dependencies[0].DependsOn, " "), "pkg:golang/std@1.26.8 pkg:golang/example.com/yaml@v1.2.3"; got != want {
		t.Errorf("the first depends on %s, want %s", got, want)
	}
}

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
