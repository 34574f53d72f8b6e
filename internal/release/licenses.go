package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
)

// licensed matches the names of files whose text must accompany a binary.
var licensed = regexp.MustCompile(`(?i)^(un)?(licen[cs]e|copying|copyright|notice|patents)([-.][a-z0-9-]+)*$`)

// modulesIn lists the modules that are in the binaries, each once.
func modulesIn(built []binary) (all []debug.Module) {
	for _, b := range built {
		all = append(all, b.info.Main)
		for _, dep := range b.info.Deps {
			all = append(all, *dep)
		}
	}
	slices.SortFunc(all, func(a, b debug.Module) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), strings.Compare(a.Version, b.Version))
	})
	return slices.Compact(all)
}

// licenses collects the license texts of Go and of the modules in the binaries.
func licenses(built []binary) ([]byte, error) {
	var names []string
	for _, m := range modulesIn(built) {
		names = append(names, m.Path+"@"+m.Version)
	}
	sources, err := download(names...)
	if err != nil {
		return nil, err
	}
	root, err := goCommand(nil, "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	sources = append(sources, module{Path: "Go", Version: runtime.Version(), Dir: strings.TrimSpace(string(root))})
	var out bytes.Buffer
	for _, m := range sources {
		text, missing := m.licenses()
		err = errors.Join(err, missing)
		out.Write(text)
	}
	return out.Bytes(), err
}

// licenses returns the texts of a module, each below a line that names it.
func (m module) licenses() ([]byte, error) {
	entries, err := os.ReadDir(m.Dir)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	for _, e := range entries {
		if !e.Type().IsRegular() || !licensed.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(m.Dir, e.Name()))
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "=== %s %s: %s\n\n%s\n", m.Path, m.Version, e.Name(), text)
	}
	if out.Len() == 0 {
		return nil, fmt.Errorf("%s %s has no license that a binary could be handed on with: look in %s, and add its name to licensed or replace the module", m.Path, m.Version, m.Dir)
	}
	return out.Bytes(), nil
}
