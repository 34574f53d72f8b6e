package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/gen"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
	"github.com/weir-go/weir/internal/must"
)

// Tests run this program as a child process with one of these as the first argument.
const (
	itself   = "relay"
	flooding = "flood"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case itself:
			os.Args = slices.Delete(os.Args, 1, 2)
			main()
		case flooding:
			flood(os.Args[2])
		}
	}
	os.Exit(m.Run())
}

// process returns a relay command that runs in a child process.
func process(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	name := must.Have(os.Executable())(t)
	return exec.Command(name, append([]string{itself}, args...)...)
}

// relayed runs a command in this process and returns its output.
func relayed(t *testing.T, args ...string) string {
	t.Helper()
	var out, complaints bytes.Buffer
	if err := run(t.Context(), args, streams{strings.NewReader(""), &out, &complaints}); err != nil {
		t.Fatalf("relay %s: %v\n%s", strings.Join(args, " "), err, &complaints)
	}
	return out.String()
}

// Signing takes most of the time to make an event, and a trusted import does not check
// signatures.
var signed, unsigned = (*gen.Generator).Next, (*gen.Generator).Unsigned

// generate writes n events of a seed to a file and returns its name. The events have few
// authors, because making keys takes long.
func generate(t *testing.T, n int, seed uint64, next func(*gen.Generator) nostr.Event) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), fmt.Sprintf("%d.jsonl", seed))
	var text []byte
	g := gen.New(seed, min(n/10+1, 1000))
	for range n {
		e := next(g)
		text = append(protocol.AppendJSON(text, &e), '\n')
	}
	must.Do(t, os.WriteFile(name, text, 0o600))
	return name
}

// idsIn returns the ids of the events in a store.
func idsIn(t *testing.T, dir string) (ids []string) {
	t.Helper()
	events, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	cursor := events.Query(nostr.Filter{})
	for more := true; more; {
		if more, err = cursor.Next(1000, func(e *nostr.Event) bool { ids = append(ids, e.ID); return true }); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

// parse returns the event of a line.
func parse(t *testing.T, line []byte) *nostr.Event {
	t.Helper()
	e := must.Have(protocol.ParseEvent(line, protocol.Limits{}))(t)
	return &e
}

// known checks that the store has acknowledged events: it saves them again, and each is a
// duplicate, or was replaced.
func known(t *testing.T, dir string, acknowledged []*nostr.Event) {
	t.Helper()
	events := must.Have(store.Open(store.Options{Dir: dir}))(t)
	defer events.Close()
	for i, e := range acknowledged {
		if outcome, err := events.Save(context.Background(), e); err != nil || outcome == store.Saved {
			t.Fatalf("acknowledged event %d of %d, %v of kind %d, was lost (%v, %v)", i+1, len(acknowledged), e.ID, e.Kind, outcome, err)
		}
	}
}

// TestImportIntoAStoreThatWasRemoved checks that the journal, which is beside the store,
// survives its removal.
func TestImportIntoAStoreThatWasRemoved(t *testing.T) {
	file, dir := generate(t, 100, 1, signed), filepath.Join(t.TempDir(), "store")
	relayed(t, "import", "-store", dir, file)
	relayed(t, "import", "-store", dir, file) // resumes after the last line
	must.Do(t, os.RemoveAll(dir))
	err := run(t.Context(), []string{"import", "-store", dir, file}, streams{strings.NewReader(""), io.Discard, io.Discard})
	if err == nil || !strings.Contains(err.Error(), "remove the journal") {
		t.Errorf("%v, want that the store is not that of the journal", err)
	}
	must.Do(t, os.Remove(filepath.Join(dir+".imports", "1.jsonl.journal")))
	if out := relayed(t, "import", "-store", dir, file); !strings.HasSuffix(out, "100 lines are in, 0 of them rejected\n") {
		t.Errorf("import said %q", out)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for _, test := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"sreve"}, `unknown command "sreve": see relay help`, 2},
		{[]string{"import"}, "want one file", 2},
		{[]string{"import", "-store", dir, "nowhere"}, "nowhere: no such file", 1},
		{[]string{"serve", "-memory", "1"}, "-memory is 1: want 64 to", 2},
		{[]string{"serve", "now"}, `unexpected argument "now"`, 2},
		{[]string{"serve", "-lisen", "x"}, "flag provided but not defined: -lisen: see relay serve -help", 2},
		{[]string{"serve", "-store", dir, "-listen", "256.0.0.1:1"}, "-listen: ", 1},
		{[]string{"serve", "-store", dir, "-reads", "-1"}, "Reads is -1: want 0", 2},
		{[]string{"serve", "-listen", "", "-internal", ""}, "-listen and -internal are both empty", 2},
		{[]string{"import", "-store", dir, "main.go"}, "no line was an event", 1},
		{[]string{"gen", "many"}, `"many": want how many`, 2},
	} {
		var complaints bytes.Buffer
		err := run(t.Context(), test.args, streams{strings.NewReader(""), &complaints, &complaints})
		if code := status(err, &complaints); code != test.code || !strings.Contains(complaints.String(), test.want) {
			t.Errorf("relay %v: status %d, %s, want %d, %s", test.args, code, &complaints, test.code, test.want)
		}
	}
}

func TestSettingsFromTheEnvironment(t *testing.T) {
	t.Setenv("RELAY_MEMORY", "lots")
	err := run(t.Context(), []string{"import", os.DevNull}, streams{})
	if err == nil || !strings.Contains(err.Error(), `RELAY_MEMORY is "lots"`) {
		t.Errorf("%v, want what is wrong with RELAY_MEMORY", err)
	}
	t.Setenv("RELAY_MEMORY", "1")
	t.Setenv("RELAY_STORE", t.TempDir())
	if err := run(t.Context(), []string{"import", os.DevNull}, streams{}); err == nil || !strings.Contains(err.Error(), "-memory is 1") {
		t.Errorf("%v, want what is wrong with the memory", err)
	}
	relayed(t, "import", "-memory", "64", os.DevNull) // an argument overrides the environment
}

// TestImportBesideARelay tries a second process on the relay's store.
func TestImportBesideARelay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	serve(t, dir)
	err := run(t.Context(), []string{"import", "-store", dir, generate(t, 1, 1, signed)}, streams{strings.NewReader(""), io.Discard, io.Discard})
	if err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("%v, want that the relay has the store", err)
	}
}

// TestImportKeepsWhatItRejects checks that a line that is no event, and an event that is forged or
// ephemeral, are kept apart, and that a trusted file is not verified.
func TestImportKeepsWhatItRejects(t *testing.T) {
	dir := t.TempDir()
	text := must.Have(os.ReadFile(generate(t, 2, 1, signed)))(t)
	forged := parse(t, bytes.SplitN(text, []byte("\n"), 2)[0])
	forged.Content += "altered"
	ephemeral := *forged
	ephemeral.Kind = 20_000
	for _, e := range []*nostr.Event{forged, &ephemeral} {
		text = append(protocol.AppendJSON(text, e), '\n')
	}
	file := filepath.Join(dir, "events")
	must.Do(t, os.WriteFile(file, append(text, "{\n"...), 0o600))
	for flag, want := range map[string]string{"-trusted=false": "5 lines are in, 3 of them rejected", "-trusted": "5 lines are in, 2 of them rejected"} {
		to := filepath.Join(dir, flag)
		if out := relayed(t, "import", "-store", to, flag, file); !strings.Contains(out, want) {
			t.Errorf("%s: %q, want %q", flag, out, want)
		}
		rejects, err := os.ReadFile(filepath.Join(to+".imports", "events.rejects"))
		if err != nil || !bytes.Contains(rejects, []byte("ephemeral")) || !bytes.Contains(rejects, []byte(`"line":5`)) {
			t.Errorf("%s: %s, %v, want the ephemeral event and line 5", flag, rejects, err)
		}
		if have := len(idsIn(t, to)); have != 2 && flag != "-trusted" {
			t.Errorf("%s: %d events, want 2", flag, have)
		}
	}
}
