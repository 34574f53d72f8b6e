package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/law"
)

// TestMain runs the command itself if the test binary was started under the name weir.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "weir" {
		main()
	}
	os.Exit(m.Run())
}

func TestBadInput(t *testing.T) {
	backend := httptest.NewServer(http.NotFoundHandler())
	defer backend.Close()
	taken := backend.Listener.Addr().String()
	gone := "/nowhere/weir.yaml"
	_, unknown := law.Parse("bond") // the list of laws is its own
	proxy := func(args ...string) []string { return append([]string{"proxy", "--to", backend.URL}, args...) }

	for _, test := range []struct {
		args []string
		want string
	}{
		{args: []string{"prxy"}, want: `unexpected argument prxy, did you mean "proxy"?`},
		{args: []string{"proxy"}, want: `want --to=URL of the server to protect, or --config=FILE`},
		{args: proxy("--mox", "3"), want: `unknown flag --mox, did you mean one of "--to", "--max"?`},
		{args: proxy("extra"), want: `unexpected argument extra: see weir proxy --help`},
		{args: []string{"bogus"}, want: `unexpected argument bogus: see weir --help`},
		{args: []string{"demo", "bogus"}, want: `unexpected argument bogus: see weir demo --help`},
		{args: []string{"demo", "--bogus"}, want: `unknown flag --bogus: see weir demo --help`},
		{args: []string{"--to", "http://h"}, want: `unknown flag --to: see weir --help`},
		{args: []string{"sim", "kata", "--plot", "x.svg"}, want: `unexpected argument kata: see weir sim --help`},
		{args: []string{"--versiom"}, want: `unknown flag --versiom, did you mean "--version"?`},

		{args: []string{"proxy", "--to", "http://"}, want: `--to: "http://": want a URL such as http://127.0.0.1:9000`},
		{args: []string{"proxy", "--to", "127.0.0.1:9000"}, want: `--to: "127.0.0.1:9000": want a URL such as http://127.0.0.1:9000`},
		{args: []string{"proxy", "--to", "ftp://h"}, want: `--to: "ftp://h": want a URL such as http://127.0.0.1:9000`},
		{args: []string{"proxy", "--to", "http://h/?q"}, want: `--to: "http://h/?q": want a URL such as http://127.0.0.1:9000`},
		{args: proxy("--config", "weir.yaml", "--max", "3"), want: `--to, --max beside --config: want it in weir.yaml`},
		{args: []string{"proxy", "--config", gone}, want: gone + `: no such file or directory: want a file with a configuration`},

		{args: proxy("--law", "bond"), want: "--law: " + unknown.Error()},

		{args: proxy("--max", "-5"), want: `--max: "-5": want a whole number, 1 or more`},
		{args: proxy("--timeout", "-1s"), want: `--timeout: "-1s": want a time such as 30s, or 0 for none`},
		{args: proxy("--queue", "-1"), want: `--queue: "-1": want a whole number, 0 or more`},
		{args: proxy("--queue-timeout", "0s"), want: `--queue-timeout: "0s": want a time above 0, such as 500ms`},

		{args: proxy("--listen", taken, "--admin", "none"), want: `--listen: listen tcp ` + taken + `: bind: address already in use: want one that no other process listens on`},
		{args: proxy("--listen", "nowhere"), want: `--listen is "nowhere": want host:port such as :8080, or unix:/path of a socket`},
		{args: proxy("--listen", "127.0.0.1:0", "--admin", taken), want: `--admin: listen tcp ` + taken + `: bind: address already in use: want one that no other process listens on`},

		{args: []string{"work", "--", "true"}, want: `missing flags: --stream=NAME`},
		{args: []string{"work", "--stream", "a"}, want: `expected "<command> ...": see weir work --help`},
		{args: []string{"work", "--stream", "a", "--"}, want: `no command: want one after --, as in weir work --stream mails -- ./send-mail`},
		{args: []string{"work", "--stream", "a", "--law", "vegas", "--", "true"}, want: `unknown flag --law: see weir work --help`},
		{args: []string{"work", "--stream", "a", "--nats", "b", "--embedded", "c", "--", "true"}, want: `--nats and --embedded can't be used together`},
		{args: []string{"enqueue", "--stream", "a", "b\xff"}, want: `argument 4, "b\xff", is no UTF-8: want UTF-8; weir enqueue takes any bytes on the standard input`},
		{args: []string{"enqueue", "--stream", "a", "--lines", "b"}, want: `--lines and payloads: want either of them`},
		{args: []string{"jobs", "requeue", "--stream", "a"}, want: `want either the dead letters to requeue, as weir jobs lists them, or --all`},
		{args: []string{"jobs", "requeue", "--stream", "a", "--all", "7"}, want: `want either the dead letters to requeue, as weir jobs lists them, or --all`},
		{args: []string{"jobs", "requeue", "--stream", "a", "x"}, want: `[<id> ...]: expected a valid 64 bit uint but got "x"`},

		{args: []string{"check"}, want: `expected "<file>": see weir check --help`},
		{args: []string{"check", "testdata/none.yaml"}, want: `testdata/none.yaml: no such file or directory: want a file with a configuration`},
		{args: []string{"check", "testdata"}, want: `testdata: is a directory: want a file with a configuration`},
		{args: []string{"check", "testdata/wrong.yaml"}, want: `testdata/wrong.yaml:3:5: upstreams.api.adresses is unknown: did you mean addresses?` +
			"\nweir: " + `testdata/wrong.yaml:3:5: upstreams.api.addresses is missing: want a list` +
			"\nweir: " + `testdata/wrong.yaml:4:15: log.format is "xml": want auto, text or json`},
		{args: []string{"proxy", "http://127.0.0.1:9000"}, want: `unexpected argument http://127.0.0.1:9000: see weir proxy --help`},
		{args: []string{"help", ""}, want: `no help on "": want one of the words that weir help lists`},

		{args: []string{"demo", "--duration", "1s"}, want: `--duration: 1s: want 3s to 60s`},
		{args: []string{"demo", "--duration", "long"}, want: `--duration: "long": want a time above 0, such as 500ms`},
	} {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			status, printed, said := ran(t, test.args...)
			said = logged.ReplaceAllString(said, "")
			if want := "weir: " + test.want + "\n"; status != 2 || said != want || printed != "" {
				t.Errorf("exit status %d, want 2; stderr:\n got %s\nwant %s\nstdout: %s", status, said, want, printed)
			}
		})
	}
}

// logged matches a line of the log: a proxy warns of few files before it opens its addresses.
var logged = regexp.MustCompile(`(?m)^\{.*\n`)

func TestDemosEndWithAComparison(t *testing.T) {
	t.Parallel()
	for command, words := range map[string][]string{
		"demo":          {"for 3s", "slow", "\nAnswered in time", "p99 served", "\nnone ", "\nfixed ", "\nadaptive "},
		"demo bulkhead": {"pool of 20 connections,\nfor 3s", "\n s state     with  without     with  without\n", " 1 well ", "\ncheckout, without"},
	} {
		t.Run(command, func(t *testing.T) {
			t.Parallel()
			out := output(t, append(strings.Fields(command), "--duration", "3s")...)
			contains(t, out, words...)
			_, table, _ := strings.Cut(out, "\nAnswered in time")
			fits(t, cmp.Or(table, out))
			if strings.Contains(out, "\x1b") {
				t.Error("colours without a terminal")
			}
		})
	}
}

func TestVersion(t *testing.T) {
	for _, args := range []string{"--version", "sim --version"} {
		if out := output(t, strings.Fields(args)...); !strings.HasPrefix(out, "weir ") {
			t.Errorf("%s: %s", args, out)
		}
	}
}

func ran(t *testing.T, args ...string) (status int, stdout, stderr string) {
	t.Helper()
	var printed, said bytes.Buffer
	status = exitStatus(run(t.Context(), args, &printed, &said), &said)
	return status, printed.String(), said.String()
}

// output returns the output of a command that says nothing else.
func output(t *testing.T, args ...string) string {
	t.Helper()
	status, printed, said := ran(t, args...)
	if status != 0 || said != "" {
		t.Fatalf("weir %s: status %d, %s", strings.Join(args, " "), status, said)
	}
	return printed
}

// begin runs a command until stop, which fails the test unless the command then ends well.
func begin(t *testing.T, stdout, stderr io.Writer, args ...string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- run(ctx, args, stdout, stderr) }()
	return func() {
		t.Helper()
		cancel()
		must.Do(t, <-ended)
	}
}

func fits(t *testing.T, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > screen {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

func TestInterruptedSimulationSaysSo(t *testing.T) {
	ctx, interrupt := context.WithCancelCause(t.Context())
	interrupt(errors.New("interrupt signal received"))
	var stderr bytes.Buffer
	err := run(ctx, []string{"sim", "run", "kata"}, io.Discard, &stderr)
	if status := exitStatus(err, &stderr); status != statusInterrupted || stderr.String() != "weir: interrupt signal received\n" {
		t.Errorf("status %d, %q", status, &stderr)
	}
}
