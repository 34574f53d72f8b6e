// Command release builds the files of a version that scripts/release has published: for each
// platform an archive of the commands with licenses, and the checksums of all archives. The command
// go version -m prints the modules in a binary.
//
//	scripts/all go run ./internal/release -out dist v0.1.0
//
// It installs from the module proxy, as users do, and not from the working tree. The same Go
// version produces the same bytes on any machine. So does `CGO_ENABLED=0 go install
// -trimpath` of a command.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

const modulePath = "github.com/weir-go/weir"

// A release has a binary of each of these commands for each of these platforms.
var (
	commands  = []string{"weir", "weir-fleet", "weir-work"}
	platforms = []platform{
		{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
	}
)

var versions = regexp.MustCompile(`^v[01]\.\d+\.\d+(-[0-9a-z.]+)?$`)

func run(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(out)
	dir := flags.String("out", "dist", "`directory` for the files; it must be empty or not exist")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || !versions.MatchString(flags.Arg(0)) {
		return fmt.Errorf("want one version that is published, such as v0.1.0, got %q", strings.Join(flags.Args(), " "))
	}
	if err := makeEmpty(*dir); err != nil {
		return err
	}
	return release{version: flags.Arg(0), dir: *dir, log: out}.files()
}

// makeEmpty creates the directory, which must contain no older files: the checksums cover all
// files in it.
func makeEmpty(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) > 0 {
		return fmt.Errorf("%s is not empty: it has %s: remove it, or name another with -out", dir, entries[0].Name())
	}
	return err
}

type platform struct{ system, processor string }

func (p platform) String() string { return p.system + "_" + p.processor }
