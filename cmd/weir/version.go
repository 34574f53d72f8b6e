package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/alecthomas/kong"
)

type versionFlag bool

// BeforeReset prints the version before other flags are parsed.
func (versionFlag) BeforeReset(k *kong.Kong) error {
	err := printVersion(k.Stdout)
	k.Exit(0)
	return err
}

// printVersion prints the version recorded at build time.
func printVersion(out io.Writer) error {
	version := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	_, err := fmt.Fprintf(out, "weir %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
