package documents

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/weir-go/weir/internal/must"
)

const (
	// awhile is how long a command that computes for minutes may run: long enough to read its
	// flags and files.
	awhile = time.Second
	// atMost bounds a start that takes milliseconds on an idle machine.
	atMost = time.Minute
)

// A reader types the commands of the documents: it has a home, a folder with the files that
// documents name, and the programs of the repository.
type reader struct {
	dir string // contains home, work and bin
}

func programs(lines []Line) (folders []string) {
	folders = []string{"./cmd/weir", "./cmd/weir-work"}
	for _, l := range lines {
		commands, _ := Commands(l.At, l.Dir, l.Text)
		for _, c := range commands {
			if how, _ := wayOf(l); how == watched && len(c.Words) > 2 && c.Words[1] == "run" && !slices.Contains(folders, c.Words[2]) {
				folders = append(folders, c.Words[2])
			}
		}
	}
	return folders
}

func newReader(t *testing.T, folders []string) *reader {
	t.Helper()
	r := &reader{dir: t.TempDir()}
	for _, folder := range []string{"home", "bin", "work/docs/control"} {
		must.Do(t, os.MkdirAll(filepath.Join(r.dir, folder), 0o755)) //nolint:gosec // for our programs
	}
	must.Have(goCommand(append([]string{"build", "-o", filepath.Join(r.dir, "bin") + string(filepath.Separator)}, folders...)...))(t)
	must.Do(t, os.CopyFS(filepath.Join(r.dir, "work"), os.DirFS("../../cmd/weir/testdata/logs")))
	// In place of the scores of other limiters, which take bench/peers hours to compute.
	const scores = `{"scenario":"det-1.5x","law":"another","seed":21,"goodput_pct":50}` + "\n"
	for name, text := range map[string]string{
		"weir.yaml":          string(must.Have(os.ReadFile("../../deploy/weir.yaml"))(t)),
		"send-mail":          "#!/bin/sh\nexit 0\n",
		"random-peers.jsonl": scores,
		"named-peers.jsonl":  scores,
	} {
		must.Do(t, os.WriteFile(filepath.Join(r.dir, "work", name), []byte(text), 0o700)) //nolint:gosec // one is run
	}
	must.Have(r.command(t.Context(), "weir enqueue --stream mails ann@example.com").Output())(t) // other lines list it
	return r
}

// command returns a shell command that is interrupted when ctx ends.
func (r *reader) command(ctx context.Context, text string) *exec.Cmd {
	c := exec.CommandContext(ctx, "bash", "-c", text) //nolint:gosec // from our documents
	c.Dir = filepath.Join(r.dir, "work")
	c.Env = append(os.Environ(), "HOME="+filepath.Join(r.dir, "home"), "TERM=dumb",
		"PATH="+filepath.Join(r.dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 20 * time.Second
	return c
}

// ended checks the result of a command that may have been interrupted.
func ended(text string, err error, out []byte) error {
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil, errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return nil
	case errors.As(err, &exit) && (exit.ExitCode() == interrupted || exit.ExitCode() < 0):
		return nil
	}
	return fmt.Errorf("`%s`: %w\n%s", text, err, bytes.TrimSpace(out))
}

// interrupted is the exit status of an interrupted simulation: docs/command.md.
const interrupted = 130

// runs checks that the command succeeds, or runs for a while and then ends on an interrupt.
func (r *reader) runs(t testing.TB, text string) error {
	ctx, stop := context.WithTimeout(t.Context(), awhile)
	defer stop()
	out, err := r.command(ctx, text).CombinedOutput()
	return ended(text, err, out)
}

// watches checks that the command soon prints a line, and ends well on an interrupt.
func (r *reader) watches(t testing.TB, text string) error {
	stop, err := r.starts(t, text, "")
	if err != nil {
		return err
	}
	return stop()
}

// starts runs the command until it prints a line with the word. stop ends it and returns its
// result.
func (r *reader) starts(t testing.TB, text, word string) (stop func() error, err error) {
	ctx, interrupt := context.WithTimeout(t.Context(), atMost)
	c := r.command(ctx, text)
	var complaints bytes.Buffer
	c.Stderr = &complaints
	out := must.Have(c.StdoutPipe())(t)
	must.Do(t, c.Start())
	lines := bufio.NewScanner(out)
	begun := false
	for !begun && lines.Scan() {
		begun = strings.Contains(lines.Text(), word)
	}
	if !begun {
		interrupt()
		return nil, fmt.Errorf("`%s` ended without a line with %q: %w\n%s", text, word, c.Wait(), &complaints)
	}
	return func() error {
		interrupt()
		_, _ = io.Copy(io.Discard, out)
		return ended(text, c.Wait(), complaints.Bytes())
	}, nil
}

var (
	word     = regexp.MustCompile(`^[a-z]+$`)
	longFlag = regexp.MustCompile(` (--[a-z-]+)`)
)

// helps checks that weir has help on a command that prose only names, with its flags.
func (r *reader) helps(t testing.TB, text string) error {
	words := strings.Fields(text)[1:]
	if end := slices.IndexFunc(words, func(w string) bool { return !word.MatchString(w) }); end >= 0 {
		words = words[:end]
	}
	out, err := r.command(t.Context(), strings.Join(append([]string{"weir help"}, words...), " ")).CombinedOutput()
	if err != nil {
		return ended(text, err, out)
	}
	for _, flag := range longFlag.FindAllStringSubmatch(text, -1) {
		if !bytes.Contains(out, []byte(flag[1])) {
			return fmt.Errorf("`%s`: there is no %s", text, flag[1])
		}
	}
	return nil
}

// elsewhere lists the commands that the tests here do not run, and where they run. For all of
// them, internal/rules checks that the tests, packages, flags and files that they name exist.
var elsewhere = []struct {
	command *regexp.Regexp
	where   string
}{
	{regexp.MustCompile(`^go (-C \S+ )?(test|tool|vet) |^\.ci/run|^scripts/(databases|proxies|tidy)|^go run \./internal/check/mutants`), "the gate"},
	{regexp.MustCompile(`^scripts/(release|first-build|first-look)|^go (-C \S+ )?(get|install) |^git clone|^go run \./internal/release`), "TestRelease of internal/release, with a module proxy of its own"},
	{regexp.MustCompile(`^go mod `), "TestReplace of internal/release"},
	{regexp.MustCompile(`^weir (record|replay|sim trace) .*(incident\.jsonl|--limiter search)`), "TestRecordWritesAFileThatOpens, TestReplayOpensARecording and TestRecordingIsATrace of cmd/weir"},
	{regexp.MustCompile(`^weir sim trace (access\.log|llm\.csv|requests\.csv) .*(--choose|--on|--service duration)`), "TestTracesPage of cmd/weir, which compares what they print"},
	{regexp.MustCompile(`^go run \./examples/(import|relay)`), "the tests of these examples, which are killed and go on"},
	{regexp.MustCompile(`^go build -o weir `), "here, before all others"},
	{regexp.MustCompile(`^openssl |^change|^curl -s -H|^seq |^xargs |^sort|^uniq|^curl .*(/orders|/limit)`), "by hand: they need a file in /etc, or the program of the page under load"},
}

// runsElsewhere returns where a command runs, or "" if it runs here.
func runsElsewhere(c Command) (where string) {
	text := strings.Join(c.Words, " ")
	for _, e := range elsewhere {
		if e.command.MatchString(text) {
			return e.where
		}
	}
	return ""
}
