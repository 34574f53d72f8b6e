package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/dash"
	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/recording"
)

const dashToken = "0123456789abcdef"

// serveDash serves a dashboard of two limiters that wants a token, and writes the token to a file.
func serveDash(t *testing.T) (address, tokenFile string) {
	t.Helper()
	var limiters []*weir.Limiter
	for _, name := range []string{"search", "\x1b[2Jevil"} {
		limiters = append(limiters, weir.Must(weir.New(weir.Config{Name: name})))
	}
	page := must.Have(dash.New(dash.Config{Read: dash.Limiters(limiters...), Token: func() (string, error) { return dashToken, nil }}))(t)
	server := httptest.NewServer(page)
	t.Cleanup(func() { page.Close(); server.Close() })
	tokenFile = filepath.Join(t.TempDir(), "token")
	must.Write(t, tokenFile, dashToken+"\n")
	return server.URL, tokenFile
}

func TestRecordWritesAFileThatOpens(t *testing.T) {
	t.Parallel()
	address, token := serveDash(t)
	file := filepath.Join(t.TempDir(), "a.jsonl")
	status, out, said := ran(t, "record", address, file, "--token", token, "--duration", "1200ms")
	if status != 0 || !strings.Contains(out, "weir replay "+file) {
		t.Errorf("status %d, said %q, %q", status, out, said)
	}
	in := must.Have(os.Open(file))(t)
	defer in.Close()
	all, err := recording.Load(in)
	if err != nil || len(all.Limiters) != 2 || len(all.Limiters["search"].Points) < 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if info, err := in.Stat(); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestRecordSaysWhyItCannot(t *testing.T) {
	address, token := serveDash(t)
	dir := t.TempDir()
	there := filepath.Join(dir, "there")
	must.Write(t, there, "precious")
	for want, args := range map[string][]string{
		"wants its token: want --token":              {address, filepath.Join(dir, "new")},
		"is there already":                           {address, there, "--token", token},
		"no such file or directory: want a new":      {address, filepath.Join(dir, "no", "new"), "--token", token},
		"want a file with a token":                   {address, filepath.Join(dir, "new"), "--token", filepath.Join(dir, "none")},
		"want the address of a dashboard":            {"ftp://a", filepath.Join(dir, "new")},
		"nothing was recorded: the dashboard did":    {"127.0.0.1:1", filepath.Join(dir, "new"), "--duration", "10ms"},
		"there2: line 2: the recording ends without": nil,
	} {
		args = append([]string{"record"}, args...)
		if len(args) == 1 {
			must.Write(t, there+"2", `{"weir":"recording","version":1}`+"\n")
			args = []string{"replay", there + "2"}
		}
		if status, _, said := ran(t, args...); status == 0 || !strings.Contains(said, want) {
			t.Errorf("%v: status %d, %s, want %s", args, status, said, want)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "new")); len(left) > 0 {
		t.Errorf("a file without messages is left: %v", left)
	}
	if text, _ := os.ReadFile(there); string(text) != "precious" {
		t.Error("a file was overwritten")
	}
}

func TestRecordGivesUpWhereThereIsNoDashboard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "new")
		begun := time.Now()
		status, _, said := ran(t, "record", "127.0.0.1:1", file)
		if took := time.Since(begun); status == 0 || took < patience || took > 2*patience {
			t.Errorf("status %d after %v", status, took)
		}
		first, last := strings.Index(said, "no answer yet: "), strings.Index(said, "no dashboard answered within 30s: ")
		if first < 0 || last < first || strings.Contains(said, "connection lost") {
			t.Errorf("said %s", said)
		}
		if left, _ := filepath.Glob(file); len(left) > 0 {
			t.Error("a file without messages is left")
		}
	})
}

const tape = `{"weir":"recording","version":1}
{"details":{"name":"a","whole":true,"points":[[1000,9,4,0,0,20,40,0,0,0],[1500,9,4,0,0,22,40,100,90,0],[2000,9,4,0,0,20,40,100,90,0]],"changes":[],"refusals":[],"decision":"x"}}
{"details":{"name":"b","whole":true,"points":[[1000,9,4,0,0,20,40,0,0,0]],"changes":[],"refusals":[],"decision":"x"}}
`

func TestReplayOpensARecording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	must.Write(t, file, tape)
	t.Setenv("BROWSER", "true")
	messages := make(lineWriter, 1)
	stop := begin(t, messages, messages, "replay", file)
	address, ok := strings.CutPrefix(<-messages, "weir: the dashboard is on ")
	if !ok {
		t.Fatalf("said %q", address)
	}
	if text := firstEvent(t, strings.TrimSpace(address)+"events"); text != `{"from":1000,"to":2000}` {
		t.Errorf("event %s", text)
	}
	stop()
}

type lineWriter chan string

func (w lineWriter) Write(p []byte) (int, error) {
	w <- string(p)
	return len(p), nil
}
