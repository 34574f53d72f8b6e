package main

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// rehearsed is the version that the tests release.
const rehearsed = "v0.0.1"

// A rehearsal is a release of the working tree to a repository in a directory, which the go
// command uses as the real one.
type rehearsal struct {
	origin, clone string
	env           []string // environment of scripts/release
	real          string   // the proxies for third-party modules: the local downloads, then the configured proxies
}

// rehearse copies the working tree, with a section of the changelog for the version and
// without the two slow steps of scripts/release, the gate and the first look, which take
// minutes.
func rehearse(t *testing.T) rehearsal {
	t.Helper()
	tmp := t.TempDir()
	r := rehearsal{origin: filepath.Join(tmp, "origin.git"), clone: filepath.Join(tmp, "weir")}
	root := strings.TrimSpace(output(t, ".", nil, "git", "rev-parse", "--show-toplevel"))
	for name := range strings.SplitSeq(output(t, root, nil, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"), "\x00") {
		copyFile(t, filepath.Join(root, name), filepath.Join(r.clone, name))
	}
	for _, minutes := range []string{".ci/run", "scripts/first-look"} {
		write(t, filepath.Join(r.clone, minutes), "#!/bin/sh\n", 0o755)
	}
	changelog := filepath.Join(r.clone, "CHANGELOG.md")
	write(t, changelog, strings.Replace(read(t, changelog), "## [Unreleased]", "## ["+strings.TrimPrefix(rehearsed, "v")+"]", 1), 0o644)

	r.real = "file://" + goEnv(t, "GOMODCACHE") + "/cache/download," + goEnv(t, "GOPROXY")
	r.env = []string{
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=url.file://" + r.origin + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + modulePath,
		"GIT_CONFIG_KEY_1=user.name", "GIT_CONFIG_VALUE_1=Weir", "GIT_CONFIG_KEY_2=user.email", "GIT_CONFIG_VALUE_2=weir@example.com",
		"GOMODCACHE=" + filepath.Join(tmp, "modules"), "GOFLAGS=-modcacherw -trimpath", "GOPROXY=" + r.real, "GOPRIVATE=" + modulePath, "GOSUMDB=off", "GOTOOLCHAIN=local", "CGO_ENABLED=0",
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", r.origin},
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all"},
		{"commit", "--quiet", "-m", "Rehearse"},
		{"remote", "add", "origin", r.origin},
		{"push", "--quiet", "origin", "main"},
	} {
		output(t, r.clone, r.env, "git", args...)
	}
	return r
}

// resolveOnly makes scripts/release resolve all packages that a module needs instead of
// building them, which takes minutes, and not download the modules of others again.
func (r *rehearsal) resolveOnly(t *testing.T) {
	t.Helper()
	script := filepath.Join(r.clone, "scripts", "release")
	text := strings.Replace(read(t, script), "build -o /dev/null ./...", "list -deps -f {{.ImportPath}}=={{.Error}} ./...", 1)
	if text == read(t, script) {
		t.Fatal("scripts/release builds no module before it tags it")
	}
	write(t, script, text, 0o755)
	r.env = append(r.env, "GOMODCACHE="+modulesOfOthers(t))
	output(t, r.clone, r.env, "git", "commit", "--quiet", "-am", "Rehearse without building")
	output(t, r.clone, r.env, "git", "push", "--quiet", "origin", "main")
}

func (r rehearsal) release(args ...string) (string, error) {
	cmd := exec.Command("scripts/release", args...)
	cmd.Dir, cmd.Env = r.clone, append(os.Environ(), r.env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// modulesOfOthers makes a module cache with the third-party modules of this machine, as links:
// unpacking some hundred modules again takes long, and does not test ours.
func modulesOfOthers(t *testing.T) string {
	t.Helper()
	from, to, own := goEnv(t, "GOMODCACHE"), t.TempDir(), path.Dir(modulePath)
	for _, part := range []string{"", filepath.Join("cache", "download")} {
		for _, parent := range []string{part, filepath.Join(part, path.Dir(own))} {
			must.Do(t, os.MkdirAll(filepath.Join(to, parent), 0o755))
			for _, e := range must.Have(os.ReadDir(filepath.Join(from, parent)))(t) {
				switch name := filepath.Join(parent, e.Name()); name {
				case "cache", filepath.Join(part, path.Dir(own)), filepath.Join(part, own):
				default:
					must.Do(t, os.Symlink(filepath.Join(from, name), filepath.Join(to, name)))
				}
			}
		}
	}
	return to
}

// proxy creates a file-based module proxy of the released modules, as the go command reads
// them from the tags, backed by the proxies for third-party modules.
func (r rehearsal) proxy(t *testing.T) (env []string, modules []string) {
	t.Helper()
	cache := filepath.Join(t.TempDir(), "published")
	for tag := range strings.SplitSeq(strings.TrimSpace(output(t, r.clone, nil, "git", "ls-remote", "--tags", "--refs", r.origin)), "\n") {
		_, tag, _ = strings.Cut(tag, "refs/tags/")
		modules = append(modules, strings.TrimSuffix(modulePath+"/"+strings.TrimSuffix(tag, rehearsed), "/"))
	}
	args := []string{"mod", "download"}
	for _, m := range modules {
		args = append(args, m+"@"+rehearsed)
	}
	output(t, t.TempDir(), append(r.env, "GOWORK=off", "GOMODCACHE="+cache), "go", args...)
	return []string{
		"GOPROXY=file://" + cache + "/cache/download," + r.real, "GONOSUMDB=" + modulePath, "GOSUMDB=off", "GOTOOLCHAIN=local",
		"GOWORK=off", "GOPRIVATE=", "GONOPROXY=", "GOFLAGS=-modcacherw -trimpath", "CGO_ENABLED=0",
	}, modules
}

func (rehearsal) use(t *testing.T, env []string) {
	t.Helper()
	for _, setting := range env {
		name, value, _ := strings.Cut(setting, "=")
		t.Setenv(name, value)
	}
}

func emptyModules(t *testing.T) string {
	t.Helper()
	modules := t.TempDir()
	t.Cleanup(func() { output(t, ".", []string{"GOMODCACHE=" + modules}, "go", "clean", "-modcache") }) // it is read-only
	return modules
}

// emptyCaches makes the go command start with empty module and build caches.
func emptyCaches(t *testing.T) {
	t.Helper()
	t.Setenv("GOMODCACHE", emptyModules(t))
	t.Setenv("GOCACHE", t.TempDir())
}

func output(t *testing.T, dir string, env []string, name string, args ...string) string {
	t.Helper()
	var complaints bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Stderr = dir, &complaints
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, &complaints)
	}
	return string(out)
}

func goEnv(t *testing.T, name string) string {
	t.Helper()
	return strings.TrimSpace(output(t, ".", nil, "go", "env", name))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	info, err := os.Lstat(from)
	if err != nil || info.IsDir() { // removed, but still in the index; or the empty name after the last separator
		return
	}
	write(t, to, read(t, from), info.Mode().Perm())
}

func read(t *testing.T, name string) string {
	t.Helper()
	text := must.Have(os.ReadFile(name))(t)
	return string(text)
}

func write(t *testing.T, name, text string, mode os.FileMode) {
	t.Helper()
	must.Do(t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(t, os.WriteFile(name, []byte(text), mode))
}
