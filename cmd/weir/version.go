package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// version returns the version recorded at build time, with the version of Go and the platform.
func version() string {
	version := "(unknown)"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		version = info.Main.Version
	}
	return fmt.Sprintf("weir %s %s %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
