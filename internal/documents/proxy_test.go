package documents

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/must"
	"github.com/weir-go/weir/internal/tcptest"
)

// A stage is the environment of a document's proxy: free ports in place of the documented
// ones.
type stage struct {
	backend       *httptest.Server
	listen, admin string
}

func newStage(t testing.TB) *stage {
	t.Helper()
	backend := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(backend.Close)
	return &stage{backend: backend, listen: tcptest.FreeAddress(t), admin: tcptest.FreeAddress(t)}
}

const answer = "the server behind the proxy"

// moved replaces the documents' ports by the ports of the stage.
func (s *stage) moved(text string) string {
	return strings.NewReplacer(
		"127.0.0.1:8080", s.listen, " :8080", " "+s.listen,
		"127.0.0.1:8081", s.admin,
		"http://127.0.0.1:9000", s.backend.URL,
	).Replace(text)
}

// begins starts a proxy on the stage. The last flags give the addresses that a line sets or leaves
// to defaults; a file gets them instead.
func (s *stage) begins(t testing.TB, r *reader, text string) (stop func() error, err error) {
	if !strings.Contains(text, "--config") {
		return r.starts(t, s.moved(text)+" --listen "+s.listen+" --admin "+s.admin, "state on")
	}
	file := filepath.Join(r.dir, "work", "weir.yaml")
	settings := must.Have(os.ReadFile(file))(t)
	moved := strings.NewReplacer(`":8080"`, s.listen, "127.0.0.1:8081", s.admin, ":8082", "127.0.0.1:0",
		"http://127.0.0.1:9000", s.backend.URL, `, "http://127.0.0.1:9001"`, "").Replace(string(settings))
	must.Do(t, os.WriteFile(file, []byte(moved), 0o600))
	return r.starts(t, text, "state on")
}

func (r *reader) serves(t testing.TB, text string) error {
	s := newStage(t)
	stop, err := s.begins(t, r, text)
	if err != nil {
		return err
	}
	got, err := s.ask(t)
	if err == nil && got != answer {
		err = fmt.Errorf("`%s`: it answered %q", text, got)
	}
	return cmp.Or(err, stop())
}

func (s *stage) ask(t testing.TB) (string, error) {
	request := must.Have(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+s.listen, nil))(t)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return string(text), err
}

// asks runs the line beside a proxy, if its programs are installed.
func (r *reader) asks(t testing.TB, text string) error {
	isMissing := func(c Command) bool {
		_, err := exec.LookPath(c.Words[0])
		return err != nil
	}
	if commands, _ := Commands("", ".", text); slices.ContainsFunc(commands, isMissing) {
		return nil // not installed on every machine
	}
	s := newStage(t)
	stop, err := s.begins(t, r, "weir proxy --to http://127.0.0.1:9000")
	if err != nil {
		return err
	}
	out, err := r.command(t.Context(), "set -o pipefail; "+s.moved(text)).CombinedOutput()
	if err == nil && len(out) == 0 {
		err = errors.New("it printed nothing")
	}
	return ended(text, errors.Join(err, stop()), out)
}

var onlyComments = regexp.MustCompile(`^(\s*(#.*)?\n)*$`)

func (r *reader) checks(t testing.TB, b Block) error {
	if onlyComments.MatchString(b.Text) {
		return nil
	}
	// Empty lines above the text make its line numbers match the document.
	file := filepath.Join(t.TempDir(), "weir.yaml")
	must.Do(t, os.WriteFile(file, []byte(strings.Repeat("\n", b.Line)+b.Text), 0o600))
	out, err := r.command(t.Context(), "weir check '"+file+"'").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("%s: this is no configuration of the proxy:\n%s", b.At(), strings.ReplaceAll(strings.TrimSpace(string(out)), file, b.Document))
	}
	return err
}

func checkAll(t *testing.T, r *reader) {
	for _, b := range blocksOf(t, "yaml") {
		if err := r.checks(t, b); err != nil {
			t.Error(err)
		}
	}
	document := "Text.\n\n```yaml\nupstreams:\n  api: {}\ngone: 1\n```\n"
	const want = "a.md:3: this is no configuration of the proxy:\nweir: a.md:5:8: upstreams.api.addresses is missing: want a list\nweir: a.md:6:1: gone is unknown"
	if err := r.checks(t, Blocks("a.md", document)[0]); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want an error that begins with %q", err, want)
	}
}

func TestJSONIsJSON(t *testing.T) {
	for _, b := range blocksOf(t, "json") {
		if err := json.Unmarshal([]byte(b.Text), new(any)); err != nil {
			t.Errorf("%s: %v", b.At(), err)
		}
	}
}
