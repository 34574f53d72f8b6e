package main

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// A release is a version, and the directory of its files.
type release struct {
	version, dir string
	log          io.Writer
}

type binary struct {
	name string // name in the archive
	text []byte
	info *buildinfo.BuildInfo
}

func (r release) files() error {
	published, err := r.published()
	if err != nil {
		return err
	}
	for _, p := range platforms {
		built, err := r.build(p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		if err := r.write(p, built, published); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return r.sums()
}

// published is the time of the commands' version according to the module proxy. The files
// have no other time.
func (r release) published() (time.Time, error) {
	modules, err := download(modulePath + "/cmd/" + commands[0] + "@" + r.version)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: has scripts/release %s --push published it", err, r.version)
	}
	text, err := os.ReadFile(modules[0].Info)
	if err != nil {
		return time.Time{}, err
	}
	var info struct{ Time time.Time }
	return info.Time, json.Unmarshal(text, &info)
}

// A module is the go command's description of a downloaded module.
type module struct {
	Path, Version string
	Info, Dir     string // a file, and the directory of the source
	Error         string
}

// download downloads modules with the go command, each as path@version, and returns them in
// that order.
func download(modules ...string) (all []module, err error) {
	out, failed := goCommand(nil, append([]string{"mod", "download", "-json"}, modules...)...)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var m module
		if err := decoder.Decode(&m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, errors.Join(failed, err)
		}
		if m.Error != "" {
			return nil, errors.New(m.Error)
		}
		all = append(all, m)
	}
	return all, failed
}

// goCommand runs the go command outside of every workspace and module.
func goCommand(env []string, args ...string) ([]byte, error) {
	var complaints bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = os.TempDir(), &complaints
	cmd.Env = append(append(os.Environ(), "GOWORK=off"), env...)
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("go %s: %w: %s", args[0], err, strings.TrimSpace(complaints.String()))
	}
	return out, nil
}

// build installs the commands for a platform. It sets everything that could affect the bytes,
// so that the environment does not.
func (r release) build(p platform) ([]binary, error) {
	tmp, err := os.MkdirTemp("", "weir-release")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	cache, err := goCommand(nil, "env", "GOMODCACHE")
	if err != nil {
		return nil, err
	}
	env := p.environment(tmp, strings.TrimSpace(string(cache)))
	bin := filepath.Join(tmp, "bin")
	if p.system != runtime.GOOS || p.processor != runtime.GOARCH {
		bin = filepath.Join(bin, p.String())
	}
	var all []binary
	for _, name := range commands {
		// One command at a time: each has its own module, and go install accepts only one module.
		if _, err := goCommand(env, "install", "-trimpath", "-buildvcs=false", modulePath+"/cmd/"+name+"@"+r.version); err != nil {
			return nil, err
		}
		if p.system == "windows" {
			name += ".exe"
		}
		text, err := os.ReadFile(filepath.Join(bin, name))
		if err != nil {
			return nil, err
		}
		info, err := buildinfo.Read(bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		all = append(all, binary{name, text, info})
	}
	fmt.Fprintf(r.log, "built %s for %s\n", strings.Join(commands, ", "), p)
	return all, nil
}

func (p platform) environment(gopath, modules string) []string {
	return []string{
		"GOOS=" + p.system, "GOARCH=" + p.processor, "GOPATH=" + gopath, "GOMODCACHE=" + modules,
		"GOBIN=", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off", "GOAMD64=v1", "GOARM64=v8.0", "CGO_ENABLED=0",
	}
}
