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

	"github.com/dgraph-io/badger/v4"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/examples/relay/gen"
	"github.com/weir-go/weir/examples/relay/protocol"
	"github.com/weir-go/weir/examples/relay/store"
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
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
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
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// exported returns the lines of an export, sorted.
func exported(t *testing.T, dir string) []string {
	t.Helper()
	return slices.Sorted(strings.Lines(relayed(t, "export", "-store", dir)))
}

// parse returns the event of a line.
func parse(t *testing.T, line []byte) *nostr.Event {
	t.Helper()
	e, err := protocol.ParseEvent(line, protocol.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return &e
}

// known checks that the store has acknowledged events: it saves them again, and each is a
// duplicate, or was replaced.
func known(t *testing.T, dir string, acknowledged []*nostr.Event) {
	t.Helper()
	events, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	for i, e := range acknowledged {
		if outcome, err := events.Save(context.Background(), e); err != nil || outcome == store.Saved {
			t.Fatalf("acknowledged event %d of %d, %v of kind %d, was lost (%v, %v)", i+1, len(acknowledged), e.ID, e.Kind, outcome, err)
		}
	}
}

// TestExportIsImportedAgain checks that an import of an export gives the same store.
func TestExportIsImportedAgain(t *testing.T) {
	file, dir := generate(t, 300, 1, signed), t.TempDir()
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	if out := relayed(t, "import", "-store", first, file); !strings.HasSuffix(out, "300 lines are in, 0 of them rejected\n") {
		t.Errorf("import said %q", out)
	}
	want := exported(t, first)
	again := filepath.Join(dir, "again.jsonl")
	if err := os.WriteFile(again, []byte(strings.Join(want, "")), 0o600); err != nil {
		t.Fatal(err)
	}
	relayed(t, "import", "-store", second, "-trusted", again)
	if have := exported(t, second); !slices.Equal(have, want) {
		t.Errorf("%d events, want the %d of the first store", len(have), len(want))
	}
}

// TestImportIntoAStoreThatWasRemoved checks that the journal, which is beside the store,
// survives its removal.
func TestImportIntoAStoreThatWasRemoved(t *testing.T) {
	file, dir := generate(t, 100, 1, signed), filepath.Join(t.TempDir(), "store")
	relayed(t, "import", "-store", dir, file)
	relayed(t, "import", "-store", dir, file) // resumes after the last line
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	refuses := func(args ...string) {
		t.Helper()
		err := run(t.Context(), append(append([]string{"import"}, args...), file), streams{strings.NewReader(""), io.Discard, io.Discard})
		if err == nil || !strings.Contains(err.Error(), "remove the journal") {
			t.Errorf("%v, want that the store is not that of the journal", err)
		}
	}
	refuses("-store", dir)
	r := serve(t, dir)
	refuses("-to", "http://"+r.internal)
	if err := os.Remove(filepath.Join(dir+".imports", "1.jsonl.journal")); err != nil {
		t.Fatal(err)
	}
	if out := relayed(t, "import", "-to", "http://"+r.internal, file); !strings.HasSuffix(out, "100 lines are in, 0 of them rejected\n") {
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
		{[]string{"sreve"}, `unknown command "sreve": want serve, import`, 2},
		{[]string{"import"}, "want one file", 2},
		{[]string{"import", "-store", dir, "nowhere"}, "nowhere: no such file", 1},
		{[]string{"import", "-to", "localhost:7778", os.DevNull}, "want the internal URL", 2},
		{[]string{"serve", "-memory", "1"}, "-memory is 1: want 64 to", 2},
		{[]string{"export", "-store", dir + "x"}, "-store: ", 1},
		{[]string{"serve", "now"}, `unexpected argument "now"`, 2},
		{[]string{"serve", "-lisen", "x"}, "flag provided but not defined: -lisen: see relay serve -help", 2},
		{[]string{"serve", "-store", dir, "-listen", "256.0.0.1:1"}, "-listen: ", 1},
		{[]string{"serve", "-store", dir, "-reads", "-1"}, "Reads is -1: want 0", 2},
		{[]string{"serve", "-listen", "", "-internal", ""}, "-listen and -internal are both empty", 2},
		{[]string{"import", "-journal", "../x", os.DevNull}, "-journal is \"../x\": want 1 to 64 letters", 2},
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
	err := run(t.Context(), []string{"export"}, streams{})
	if err == nil || !strings.Contains(err.Error(), `RELAY_MEMORY is "lots"`) {
		t.Errorf("%v, want what is wrong with RELAY_MEMORY", err)
	}
	t.Setenv("RELAY_MEMORY", "1")
	t.Setenv("RELAY_STORE", t.TempDir())
	if err := run(t.Context(), []string{"export"}, streams{}); err == nil || !strings.Contains(err.Error(), "-memory is 1") {
		t.Errorf("%v, want what is wrong with the memory", err)
	}
	relayed(t, "export", "-memory", "64") // an argument overrides the environment
}

// TestMistakesBesideARelay tries a second process on the relay's store, and an import sent
// to the address for clients.
func TestMistakesBesideARelay(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	r := serve(t, dir)
	file := generate(t, 1, 1, signed)
	for want, args := range map[string][]string{
		"stop it, or import into a relay that runs with -to": {"import", "-store", dir, file},
		"want the relay's -internal address":                 {"import", "-to", "http://" + r.public, file},
	} {
		if err := run(t.Context(), args, streams{strings.NewReader(""), io.Discard, io.Discard}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("relay %v: %v, want %q", args, err, want)
		}
	}
}

// TestImportIntoARelayThatIsNew checks that the first import over HTTP finds a directory for
// its journal.
func TestImportIntoARelayThatIsNew(t *testing.T) {
	r := serve(t, filepath.Join(t.TempDir(), "store"))
	if out := relayed(t, "import", "-to", "http://"+r.internal, generate(t, 10, 1, signed)); !strings.HasSuffix(out, "10 lines are in, 0 of them rejected\n") {
		t.Errorf("import said %q", out)
	}
}

// TestExportGoesOnAfterACorruptRecord checks that a corrupt record loses only its event, and
// that the export still fails.
func TestExportGoesOnAfterACorruptRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	relayed(t, "import", "-store", dir, generate(t, 100, 1, signed))
	whole := len(exported(t, dir))
	damage(t, dir)
	var out, complaints bytes.Buffer
	err := run(t.Context(), []string{"export", "-store", dir}, streams{nil, &out, &complaints})
	if err == nil || !strings.Contains(err.Error(), "1 corrupt left out") || !strings.Contains(complaints.String(), "leaves out a record") {
		t.Errorf("%v, %q, want that one record is corrupt", err, &complaints)
	}
	if lines := bytes.Count(out.Bytes(), []byte("\n")); lines != whole-1 {
		t.Errorf("%d events of %d, want all but one", lines, whole)
	}
}

// damage truncates the second record of a store.
func damage(t *testing.T, dir string) {
	t.Helper()
	events, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer events.Close()
	if err := events.DB().Update(func(tx *badger.Txn) error {
		it := tx.NewIterator(badger.IteratorOptions{Prefix: []byte("r")})
		defer it.Close()
		it.Rewind()
		it.Next()
		return tx.Set(it.Item().KeyCopy(nil), []byte("short"))
	}); err != nil {
		t.Fatal(err)
	}
}
