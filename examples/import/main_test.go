package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"
	"github.com/weir-go/weir/examples/internal/importtest"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/race"
	"github.com/weir-go/weir/load/badgerload"
)

var kills = flag.Int("kills", 5, "how often TestKilledImportGoesOn kills the import")

// Tests run this program as a child process with one of these as the first argument.
const (
	importing = "import"
	measuring = "measure"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case importing:
			os.Args = os.Args[1:]
			main()
			os.Exit(0)
		case measuring:
			if err := measure(os.Args[2:], os.Stdout); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			os.Exit(0)
		}
	}
	os.Exit(m.Run())
}

func self(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	name := must.Have(os.Executable())(t)
	return exec.Command(name, args...)
}

// badEvery is the interval of lines that are not JSON.
const badEvery = 1000

// source writes n lines to a file and returns its name.
func source(t *testing.T, n int) string {
	t.Helper()
	var text bytes.Buffer
	for i := 1; i <= n; i++ {
		if i%badEvery == 0 {
			fmt.Fprintf(&text, "{\"id\":\"%d\n", i)
			continue
		}
		fmt.Fprintf(&text, "{\"id\":\"%d\",\"text\":%q}\n", i, strings.Repeat("x", 200+i%1800))
	}
	name := filepath.Join(t.TempDir(), "lines")
	must.Do(t, os.WriteFile(name, text.Bytes(), 0o600))
	return name
}

// inStore checks that the store has the records of the first n lines, and returns the number
// of records.
func inStore(t *testing.T, store string, n int) (keys int) {
	t.Helper()
	db := must.Have(badgerload.Open(badger.DefaultOptions(store).WithLogger(nil)))(t)
	defer db.Close()
	err := db.View(func(tx *badger.Txn) error {
		for i := 1; i <= n; i++ {
			if i%badEvery == 0 {
				continue
			}
			item, err := tx.Get(fmt.Append(nil, i))
			if err != nil {
				return fmt.Errorf("line %d: %w", i, err)
			}
			if want := int64(len(fmt.Sprintf("{\"id\":\"%d\",\"text\":\"\"}", i)) + 200 + i%1800); item.ValueSize() != want {
				return fmt.Errorf("line %d: %d bytes, want %d", i, item.ValueSize(), want)
			}
		}
		all := tx.NewIterator(badger.IteratorOptions{})
		defer all.Close()
		for all.Rewind(); all.Valid(); all.Next() {
			if !bytes.HasPrefix(all.Item().Key(), []byte(marks)) {
				keys++
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return keys
}

// TestKilledImportGoesOn kills an import at random instants: the acknowledged records are
// there after each kill, and in the end every record is there once.
func TestKilledImportGoesOn(t *testing.T) {
	n := 8000 * *kills
	if race.Enabled { // its processes have the detector too, and took minutes on a busy machine
		n /= 4
	}
	file, store := source(t, n), filepath.Join(t.TempDir(), "store")
	args := []string{importing, "-store", store, "-target", "256", file}
	began := time.Now()
	if out, err := self(t, importing, "-store", filepath.Join(t.TempDir(), "store"), "-target", "256", file).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	const start = 300 * time.Millisecond // of the process, with a store that was not closed
	longest := start + time.Since(began)/time.Duration(*kills)
	for killed := 0; killed < *kills; killed++ {
		if complaints := importtest.Kill(t, self(t, args...), rand.N(longest)); complaints != "" {
			t.Fatalf("run %d: %s", killed, complaints)
		}
		acknowledged := importtest.Acknowledged(t, store+".journal")
		inStore(t, store, acknowledged)
		t.Logf("kill %d: %d of %d lines are acknowledged", killed+1, acknowledged, n)
	}
	out, err := self(t, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if keys := inStore(t, store, n); keys != n-n/badEvery {
		t.Errorf("%d records, want %d: each once", keys, n-n/badEvery)
	}
	rejects := must.Have(os.ReadFile(store + ".rejects"))(t)
	i := 0
	for text := range strings.Lines(string(rejects)) {
		i++
		var reject struct{ Line int }
		if err := json.Unmarshal([]byte(text), &reject); err != nil || reject.Line != i*badEvery {
			t.Fatalf("reject %d is %s (%v), want line %d", i, text, err, i*badEvery)
		}
	}
	if i != n/badEvery {
		t.Errorf("%d rejects, want %d", i, n/badEvery)
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"no file":                 {[]string{"-store", store}, "want one file"},
		"no such file":            {[]string{"-store", store, "nowhere"}, "nowhere: no such file"},
		"a tiny target":           {[]string{"-store", store, "-target", "1", "-"}, "-target is 1: want 16 to "},
		"no target":               {[]string{"-store", store, "-target", "0", "-"}, "-target is 0: want 16 to "},
		"a target that overflows": {[]string{"-store", store, "-target", "17592186044928", "-"}, "-target is 17592186044928: want 16 to "},
		"no store":                {[]string{"-store", "", "-"}, "-store is empty"},
		"no key":                  {[]string{"-store", store, "-key", "", "-"}, "-key is empty"},
		"an unknown flag":         {[]string{"-tarket", "1"}, "flag provided but not defined: -tarket"},
	} {
		if err := run(t.Context(), test.args, strings.NewReader(""), io.Discard); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
	lines := "{\"id\":\"a\"}\n{\"no\":1}\n{\"id\":7}\n{\"id\":\"" + strings.Repeat("x", 1<<17) + "\"}\n{\"id\":\"b\"}\n{\"id\":\"\\u0000import/A\"}"
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-store", store, "-target", "64", "-"}, strings.NewReader(lines), &out); err != nil || !strings.Contains(out.String(), "6 lines are in, 4 of them rejected and kept in "+store+".rejects\n") {
		t.Errorf("%v, %s", err, &out)
	}
	kept, err := os.ReadFile(store + ".rejects")
	for _, want := range []string{`there is no \"id\": -key names the field that is the key`, `as the marks of imports do`} {
		if err != nil || !strings.Contains(string(kept), want) {
			t.Errorf("%v, %s, want %s", err, kept, want)
		}
	}
}

// TestStoreWithASlash checks that an import resumes whether or not the name of its store ends in a
// slash.
func TestStoreWithASlash(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	for _, name := range []string{store + "/", store} {
		must.Do(t, run(t.Context(), []string{"-store", name, "-target", "64", "-"}, strings.NewReader(`{"id":"a"}`), io.Discard))
	}
	if acknowledged := importtest.Acknowledged(t, store+".journal"); acknowledged != 1 {
		t.Errorf("%d lines are acknowledged, want 1", acknowledged)
	}
	if files := must.Have(filepath.Glob(filepath.Join(store, ".*")))(t); len(files) > 0 {
		t.Errorf("%v are in the store", files)
	}
}

// observe runs measure in a process of its own.
func observe(t *testing.T, target, records int, args ...string) (f figure) {
	t.Helper()
	store := filepath.Join(t.TempDir(), "store")
	defer os.RemoveAll(store) // it takes gigabytes
	c := self(t, append([]string{measuring, "-target", strconv.Itoa(target), "-store", store, "-records", strconv.Itoa(records)}, args...)...)
	var out, complaints bytes.Buffer
	c.Stdout, c.Stderr = &out, &complaints
	seen, err := importtest.Run(t, c, target)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &complaints)
	}
	if err := json.Unmarshal(out.Bytes(), &f); err != nil {
		t.Fatalf("%v: %s", err, &out)
	}
	f.Peak = seen
	return f
}

const (
	asksAgain = 50 * time.Millisecond
	patience  = time.Minute // for a busy machine
)

// TestToldToEnd sends SIGTERM to an import while its source hangs, as a container runtime
// does.
func TestToldToEnd(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	c := self(t, importing, "-store", store, "-target", "64", "-")
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	in := must.Have(c.StdinPipe())(t)
	ended := start(t, c)
	must.Have(in.Write([]byte("{\"id\":\"a\"}\n{\"id\":\"b\"}\n{\"id\":")))(t)
	tick := time.NewTicker(asksAgain)
	defer tick.Stop()
	for importtest.Acknowledged(t, store+".journal") < 2 {
		select {
		case <-tick.C:
		case err := <-ended:
			t.Fatalf("%v: %s", err, &out)
		}
	}
	must.Do(t, c.Process.Signal(syscall.SIGTERM))
	err := <-ended
	if said := out.String(); err == nil || !strings.Contains(said, "2 lines are in, 0 of them rejected\n") || !strings.Contains(said, "terminated signal received") {
		t.Errorf("%v: %s", err, said)
	}
}

// TestInterruptedBeforeItReads interrupts an import whose file is a pipe without a writer:
// opening the pipe blocks and ignores the context.
func TestInterruptedBeforeItReads(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("needs a named pipe: %v: %s", err, out)
	}
	c := self(t, importing, "-store", filepath.Join(dir, "store"), pipe)
	ended := start(t, c)
	tick := time.NewTicker(asksAgain)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			_ = c.Process.Signal(syscall.SIGTERM) // a shell's background ignores interrupts
		case err := <-ended:
			if err == nil || strings.Contains(err.Error(), "killed") {
				t.Errorf("it ended with %v: want an interrupt", err)
			}
			return
		}
	}
}

// start starts a command and returns a channel with its exit error. It kills a command that
// is stuck.
func start(t *testing.T, c *exec.Cmd) <-chan error {
	t.Helper()
	must.Do(t, c.Start())
	stuck := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	ended := make(chan error, 1)
	go func() {
		ended <- c.Wait()
		stuck.Stop()
	}()
	return ended
}

func TestHelpIsNoFailure(t *testing.T) {
	if out, err := self(t, importing, "-h").CombinedOutput(); err != nil || strings.Contains(string(out), "flag:") || !strings.Contains(string(out), "import [flags] FILE") {
		t.Errorf("%v: %s", err, out)
	}
}
