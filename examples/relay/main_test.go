package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nbd-wtf/go-nostr"
	"github.com/tidwall/gjson"

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

// fill saves events in a new store and returns both. The events have few authors, because making
// keys takes long.
func fill(t *testing.T, n int) (dir string, events []nostr.Event) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "store")
	s := must.Have(store.Open(store.Options{Dir: dir}))(t)
	defer s.Close()
	g := newGenerator(min(n/10+1, 1000))
	for range n {
		e := g.unsigned()
		must.Have(s.Save(t.Context(), &e))(t)
		events = append(events, e)
	}
	return dir, events
}

// idsIn returns the ids of the events in a store.
func idsIn(t *testing.T, dir string) (ids []string) {
	t.Helper()
	events := must.Have(store.Open(store.Options{Dir: dir}))(t)
	defer events.Close()
	cursor := events.Query(nostr.Filter{})
	for more := true; more; {
		more = must.Have(cursor.Next(1000, func(event []byte) bool {
			ids = append(ids, gjson.GetBytes(event, "id").Str)
			return true
		}))(t)
	}
	return ids
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

func TestWhatIsWrongIsSaid(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	for _, test := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"-memory", "1"}, "-memory is 1: want 64 to", 2},
		{[]string{"now"}, `unexpected argument "now"`, 2},
		{[]string{"-lisen", "x"}, "flag provided but not defined: -lisen: see relay -help", 2},
		{[]string{"-store", dir, "-listen", "256.0.0.1:1"}, "-listen: ", 1},
		{[]string{"-store", dir, "-reads", "-1"}, "Reads is -1: want 0", 2},
		{[]string{"-listen", "", "-internal", ""}, "-listen and -internal are both empty", 2},
	} {
		var complaints bytes.Buffer
		err := run(t.Context(), test.args, &complaints, &complaints)
		if code := status(err, &complaints); code != test.code || !strings.Contains(complaints.String(), test.want) {
			t.Errorf("relay %v: status %d, %s, want %d, %s", test.args, code, &complaints, test.code, test.want)
		}
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"-help"}, &out, io.Discard); status(err, &out) != 0 || !strings.Contains(out.String(), "-message-rate") {
		t.Errorf("%v, %s", err, &out)
	}
}

func TestSettingsFromTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		variable, value string
		args            []string
		want            string
	}{
		{"RELAY_MEMORY", "lots", nil, `RELAY_MEMORY is "lots"`},
		{"RELAY_MEMORY", "1", nil, "-memory is 1"},
		{"RELAY_MEMORY", "1", []string{"-memory", "2"}, "-memory is 2"},
		{"RELAY_MEMORY", "lots", []string{"-help"}, flag.ErrHelp.Error()},
		{"RELAY_MESAGE_RATE", "5", nil, "RELAY_MESAGE_RATE is not a setting: did you mean RELAY_MESSAGE_RATE?"},
		{"RELAY_PORT", "tcp://10.0.0.1:7777", []string{"-memory", "2"}, "-memory is 2"}, // of Kubernetes
	} {
		t.Run(test.variable+"="+test.value, func(t *testing.T) {
			t.Setenv(test.variable, test.value)
			err := run(t.Context(), test.args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("relay %v: %v, want %s", test.args, err, test.want)
			}
		})
	}
}

// TestTwoRelays tries a second process on the relay's store.
func TestTwoRelays(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	serve(t, dir)
	err := run(t.Context(), []string{"-store", dir}, io.Discard, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("%v, want that the other relay has the store", err)
	}
}
