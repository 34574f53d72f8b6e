package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/documents"
	"github.com/weir-go/weir/internal/longtest"
)

// TestInstall follows README with the modules that a release of the working tree would
// publish on a module proxy, outside of the workspace. It gets each module where none of ours
// was ever downloaded, and finds all packages that its packages need; compiles those of the root
// module and of weirbreaker; and, with no module downloaded at all, installs the command and runs
// it. The further checks of TestRelease take minutes: it builds each module before it is tagged,
// gets each from empty caches, fails a push in between, and compares the bytes of binaries.
func TestInstall(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	r := rehearse(t)
	r.resolveOnly(t)
	if out, err := r.release(rehearsed, "--push"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	env, modules := r.proxy(t)
	t.Run("get", func(t *testing.T) {
		env := append(env, "GOMODCACHE="+modulesOfOthers(t))
		for _, module := range modules {
			t.Run(strings.TrimPrefix(module, path.Dir(modulePath)+"/"), func(t *testing.T) {
				t.Parallel()
				dir := get(t, env, module)
				if slices.Contains([]string{modulePath, modulePath + "/weirbreaker"}, module) {
					output(t, dir, env, "go", "build", "-o", os.DevNull, module+"/...")
				}
			})
		}
	})
	t.Run("install", func(t *testing.T) {
		bin := t.TempDir()
		output(t, bin, append(env, "GOMODCACHE="+emptyModules(t), "GOBIN="+bin), "go", "install", modulePath+"/cmd/weir@"+rehearsed)
		if said := output(t, bin, nil, filepath.Join(bin, "weir"), "--version"); !strings.HasPrefix(said, "weir "+rehearsed+" ") {
			t.Errorf("it says %q of its version, want %s", said, rehearsed)
		}
	})
}

// TestReplace follows the steps of docs/start.md for the time before the first release, in a
// module beside a clone: it installs the command, which reports the commit of the clone, and
// builds a program with the root module and another one.
func TestReplace(t *testing.T) {
	longtest.Skip(t)
	t.Parallel()
	tmp := t.TempDir()
	root := strings.TrimSpace(output(t, ".", nil, "git", "rev-parse", "--show-toplevel"))
	app, bin := filepath.Join(tmp, "app"), filepath.Join(tmp, "bin")
	write(t, filepath.Join(app, "main.go"), "package main\n\nimport (\n\t_ \"github.com/weir-go/weir\"\n\t_ \"github.com/weir-go/weir/weirgrpc\"\n)\n\nfunc main() {}\n", 0o644)
	env := []string{
		"GOWORK=", "GOBIN=" + bin, "GOFLAGS=-buildvcs=auto -trimpath", "GIT_CONFIG_COUNT=1",
		"GIT_CONFIG_KEY_0=url.file://" + root + ".insteadOf", "GIT_CONFIG_VALUE_0=https://" + modulePath,
	}
	var blocks []string
	for _, b := range documents.Blocks("start.md", read(t, filepath.Join(root, "docs", "start.md"))) {
		if b.Language == "sh" && len(blocks) < 2 {
			blocks = append(blocks, b.Text)
		}
	}
	output(t, tmp, env, "bash", "-euc", blocks[0])
	commit := strings.TrimSpace(output(t, filepath.Join(tmp, "weir"), nil, "git", "rev-parse", "--short=12", "HEAD"))
	if said := output(t, tmp, nil, filepath.Join(bin, "weir"), "--version"); !strings.Contains(said, commit) {
		t.Errorf("weir version says %q, want the commit %s", said, commit)
	}
	output(t, app, env, "go", "mod", "init", "example.com/app")
	output(t, app, env, "bash", "-euc", blocks[1])
	output(t, app, env, "go", "build", "-o", os.DevNull, ".")
}
