package main

import (
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/longtest"
	"github.com/weir-go/weir/internal/must"
)

var builds = flag.Bool("builds", false, "run TestRelease, which compiles every package of every module, and makes all files of the release twice")

// TestRelease releases the working tree to a proxy on this machine and uses it as a stranger
// does: outside of the workspace, from empty caches. It also recovers from a push that fails
// in between, and makes the files of the release.
func TestRelease(t *testing.T) {
	if !*builds {
		t.Skip("makes all files of a release twice: -builds runs it")
	}
	r := rehearse(t)

	hook := filepath.Join(r.origin, "hooks", "update")
	write(t, hook, "#!/bin/sh\ncase $1 in refs/tags/weirgrpc/*) echo down for now >&2; exit 1 ;; esac\n", 0o755)
	if out, err := r.release(rehearsed, "--push"); err == nil || !strings.Contains(out, "down for now") {
		t.Fatalf("want the failure of the origin, got %v\n%s", err, out)
	}
	must.Do(t, os.Remove(hook))
	if out, err := r.release(rehearsed, "--push"); err != nil || !strings.Contains(out, "next: ") {
		t.Fatalf("%v\n%s", err, out)
	}

	env, modules := r.proxy(t)
	for _, module := range []string{modulePath, modulePath + "/cmd/weir", modulePath + "/weirgrpc", modulePath + "/weirtemporal"} {
		if !strings.Contains(strings.Join(modules, " ")+" ", module+" ") {
			t.Errorf("%s is not among the released modules %q", module, modules)
		}
	}
	t.Run("strangers", func(t *testing.T) {
		for _, module := range modules {
			t.Run(strings.TrimPrefix(module, path.Dir(modulePath)+"/"), func(t *testing.T) {
				t.Parallel()
				env := slices.Concat(env, []string{"GOMODCACHE=" + emptyModules(t)})
				dir := get(t, env, module)
				output(t, dir, env, "go", "build", "-o", os.DevNull, module+"/...")
			})
		}
	})
	r.use(t, env)
	binaries(t)
}

// get adds all packages of a module to a new one, and checks that every package they need is found.
func get(t *testing.T, env []string, module string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	output(t, dir, env, "go", "mod", "init", "example.com/stranger")
	output(t, dir, env, "go", "get", module+"/...")
	if output(t, dir, env, "go", "list", "-deps", module+"/...") == "" {
		t.Fatalf("%s has no package", module)
	}
	return dir
}

func TestAllCommandsAreReleased(t *testing.T) {
	directories := must.Have(os.ReadDir(filepath.Join("..", "..", "cmd")))(t)
	var names []string
	for _, d := range directories {
		names = append(names, d.Name())
	}
	if !slices.Equal(commands, names) {
		t.Errorf("%q are built, want %q", commands, names)
	}
}

// TestReleaseRefuses checks that scripts/release refuses a repository that is not ready, and
// tags no version.
func TestReleaseRefuses(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	r := rehearse(t)
	refuses := func(want string, args ...string) {
		t.Helper()
		if out, err := r.release(args...); err == nil || !strings.Contains(out, want) {
			t.Errorf("%q: %v, want %q, got\n%s", args, err, want, out)
		}
	}
	refuses("usage: scripts/release vX.Y.Z")
	refuses("usage: scripts/release vX.Y.Z", strings.TrimPrefix(rehearsed, "v"))
	refuses("ends in /v2", "v2.0.0")
	refuses("unknown argument --pull: want --push", rehearsed, "--pull")
	refuses(`no section "## [0.0.2]": name and date its Unreleased section so`, "v0.0.2", "--push")

	write(t, filepath.Join(r.clone, "new.go"), "package weir\n", 0o644)
	refuses("not clean: git status says", rehearsed, "--push")
	output(t, r.clone, r.env, "git", "add", "--all")
	output(t, r.clone, r.env, "git", "commit", "--quiet", "-m", "Not pushed")
	refuses("ahead of origin: git push origin main", rehearsed, "--push")

	// For an unpublished module, the go command would use the main branch.
	work := filepath.Join(r.clone, "all.work")
	command := "\t./cmd/weir\n"
	write(t, work, strings.Replace(strings.Replace(read(t, work), command, "", 1), "\t.\n", "\t.\n"+command, 1), 0o644)
	output(t, r.clone, r.env, "git", "commit", "--quiet", "-am", "Release the command first")
	output(t, r.clone, r.env, "git", "push", "--quiet", "origin", "main")
	refuses("cmd/weir imports github.com/weir-go/weir/weirbreaker, which is not published before it: move it up in all.work", rehearsed, "--push")
	output(t, r.clone, r.env, "git", "switch", "--quiet", "--create", "side")
	refuses("not on main: git switch main", rehearsed, "--push")
	if tags := output(t, r.clone, nil, "git", "tag"); tags != "" {
		t.Errorf("it left the tags %q", tags)
	}
}
