package relay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/coder/websocket"
	"github.com/nbd-wtf/go-nostr"

	"github.com/weir-go/weir/bulk"
	"github.com/weir-go/weir/examples/relay/relay"
)

// lines returns n events, one a line.
func lines(n int) (text []byte) {
	for i := range n {
		text = append(text, someone.event(1, fmt.Sprint(i)).String()...)
		text = append(text, '\n')
	}
	return text
}

// progress is a line of the answer.
type progress struct {
	bulk.Snapshot
	Done  bool
	Error string
}

// post imports over HTTP and returns the last line of the answer.
func (s *served) post(query string, body io.Reader) (status int, last progress) {
	s.t.Helper()
	r, err := http.Post(s.in+"/import"+query, "application/jsonl", body)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusOK {
		return r.StatusCode, last
	}
	for d := json.NewDecoder(r.Body); ; {
		if err := d.Decode(&last); errors.Is(err, io.EOF) {
			return r.StatusCode, last
		} else if err != nil {
			s.t.Fatal(err)
		}
	}
}

func TestImportKeepsWhatItRejects(t *testing.T) {
	forged := someone.event(1, "forged")
	forged.Content = "altered"
	text := append(lines(2), "{\n"+forged.String()+"\n"+someone.event(20_000, "ephemeral").String()+"\n"...)
	text = append(text, lines(1)...)

	kept, dir := &fake{}, t.TempDir()
	s := serve(t, relay.Config{Store: kept, Dir: dir})
	if _, last := s.post("", strings.NewReader("")); !last.Done || last.Lines != 0 {
		t.Errorf("%+v of no lines", last)
	}
	if _, last := s.post("?journal=a", bytes.NewReader(text)); !last.Done || last.Lines != 6 || last.Rejected != 3 {
		t.Errorf("%+v, want 6 lines, 3 of them rejected", last)
	}
	rejects, err := os.ReadFile(filepath.Join(dir, "a.rejects"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"line":3`, `"line":4`, `"line":5`, "invalid: the id", "ephemeral"} {
		if !bytes.Contains(rejects, []byte(want)) {
			t.Errorf("no %s in %s", want, rejects)
		}
	}
	if _, last := s.post("?journal=b&trusted=true", bytes.NewReader(text)); !last.Done || last.Rejected != 2 {
		t.Errorf("%+v, want no complaint about a signature of a trusted source", last)
	}
}

func TestImportGoesOnFromItsJournal(t *testing.T) {
	text := lines(10)
	full := errors.New("no space left on device")
	var stop bool
	kept := &fake{}
	kept.beforeSave = func(e *nostr.Event) error {
		if stop && e.Content == "7" {
			return full
		}
		return nil
	}
	stop = true
	s := serve(t, relay.Config{Store: kept, Dir: t.TempDir()})
	_, last := s.post("?journal=a", bytes.NewReader(text))
	if last.Done || !strings.Contains(last.Error, "line 8") || !strings.Contains(last.Error, full.Error()) {
		t.Errorf("%+v, want the line at which the store was full", last)
	}
	stop = false
	if _, last := s.post("?journal=a", bytes.NewReader(text)); !last.Done || last.Lines != 10 || kept.len() != 10 {
		t.Errorf("%+v, and %d events, want all 10", last, kept.len())
	}
	if _, last := s.post("?journal=a", bytes.NewReader(lines(3))); last.Done || !strings.Contains(last.Error, "not the source") {
		t.Errorf("%+v, want that the source is another", last)
	}
}

// A client that has the last line may use the journal again at once, even while the server still
// reads the rest of the body.
func TestLastLineOfAnImportReleasesItsJournal(t *testing.T) {
	kept := &fake{beforeSave: func(*nostr.Event) error { return errors.New("no space left on device") }}
	s := serve(t, relay.Config{Store: kept, Dir: t.TempDir()})
	source, feed := io.Pipe()
	defer feed.Close()
	go feed.Write(lines(1))
	r, err := http.Post(s.in+"/import?journal=a", "application/jsonl", source)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	for d, last := json.NewDecoder(r.Body), (progress{}); last.Error == ""; {
		if err := d.Decode(&last); err != nil {
			t.Fatal(err)
		}
	}
	if status, _ := s.post("?journal=a", strings.NewReader("")); status != http.StatusOK {
		t.Errorf("the import after it: %d, want 200", status)
	}
}

func TestImportsThatAreRefused(t *testing.T) {
	s := serve(t, relay.Config{Dir: t.TempDir()})
	for query, want := range map[string]int{
		"?journal=../../etc/passwd":           http.StatusBadRequest,
		"?journal=.hidden":                    http.StatusBadRequest,
		"?journal=" + strings.Repeat("x", 65): http.StatusBadRequest,
	} {
		if status, _ := s.post(query, strings.NewReader("")); status != want {
			t.Errorf("%s: %d, want %d", query, status, want)
		}
	}
	if r, err := http.Post(s.url+"/import", "", strings.NewReader("")); err != nil || r.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("the public listener answers an import with %v, %v", r, err)
	}
	s.stop()
	if status, _ := s.post("?journal=a", strings.NewReader("")); status != http.StatusServiceUnavailable {
		t.Errorf("an import after the end: %d, want 503", status)
	}
	s = serve(t, relay.Config{})
	if status, _ := s.post("?journal=a", strings.NewReader("")); status != http.StatusNotImplemented {
		t.Errorf("an import without a directory: %d, want 501", status)
	}
}

func TestEndOfTheRelayStopsImports(t *testing.T) {
	kept := &fake{}
	s := serve(t, relay.Config{Store: kept, Dir: t.TempDir()})
	text := lines(3)
	source, feed := io.Pipe()
	answered := make(chan progress)
	go func() {
		_, last := s.post("?journal=a", source)
		answered <- last
	}()
	feed.Write(text[:len(text)-1]) // a client that then stops sending
	for kept.len() < 2 {           // it is this import that runs, and not the next
		runtime.Gosched()
	}
	if status, _ := s.post("?journal=a", strings.NewReader("")); status != http.StatusConflict {
		t.Errorf("a second import with the same journal: %d, want 409", status)
	}
	s.stop()
	if last := <-answered; last.Done || !strings.Contains(last.Error, "goes on from its journal") {
		t.Errorf("%q, done %t, want what to do", last.Error, last.Done)
	}
	feed.Close()

	s = serve(t, relay.Config{Store: kept, Dir: t.TempDir()})
	if _, last := s.post("?journal=a", bytes.NewReader(text)); !last.Done || kept.len() != 3 {
		t.Errorf("%+v, and %d events, want 3", last, kept.len())
	}
}

func TestImportWhoseSourceEndsWithItsContext(t *testing.T) {
	s, stop := build(t, relay.Config{Store: &fake{}})
	defer stop()
	cause := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	if _, err := s.Import(ctx, iotest.ErrReader(errors.New("closed")), relay.Import{}); !errors.Is(err, cause) {
		t.Errorf("%v, want %v", err, cause)
	}
}

// A client's event is written before the waiting events of an import.
func TestClientsGoBeforeAnImport(t *testing.T) {
	saved, leave := make(chan string), make(chan struct{})
	kept := &fake{beforeSave: func(e *nostr.Event) error {
		saved <- e.Content
		<-leave
		return nil
	}}
	s := serve(t, relay.Config{Store: kept, Dir: t.TempDir(), Writes: 1})
	imported := make(chan progress)
	go func() {
		_, last := s.post("", bytes.NewReader(lines(30)))
		imported <- last
	}()
	<-saved // the import has the only slot
	c := s.client()
	e := someone.event(1, "live")
	c.send(eventMessage(e))
	for s.metric(`weir_queued{limiter="store Writes"}`) != "16" { // 15 of the import's 16 lines in progress, and the event
	}
	leave <- struct{}{}
	if got := <-saved; got != "live" {
		t.Errorf("%q was written next, want the client's event", got)
	}
	go func() {
		for range saved {
		}
	}()
	close(leave)
	c.want("OK", e.ID, true)
	if last := <-imported; !last.Done {
		t.Errorf("%+v", last)
	}
	c.CloseNow()
	s.stop()
	close(saved)
}

func TestInternalListener(t *testing.T) {
	s := serve(t, relay.Config{MessageRate: 0.001, Connections: 1})
	c := connect(t, s.in, nil)
	connect(t, s.in, nil)
	s.client() // none of them counts
	for range 50 {
		c.publish(someone.event(20_000, ""))
	}
	for _, name := range []string{"relay_connections", "weir_throttle_load", "weir_in_flight", "weir_governor_target_bytes"} {
		r, err := http.Get(s.in + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if !bytes.Contains(text, []byte("\n"+name)) {
			t.Errorf("no %s in the metrics", name)
		}
	}
}

// endingIn calls a function at the end of its input.
type endingIn struct {
	io.Reader
	end func()
}

func (r endingIn) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err != nil {
		r.end()
	}
	return n, err
}

// A stopped import saves no event that it has not verified, even when no throttle refuses
// it.
func TestImportThatIsStoppedSavesNothingForged(t *testing.T) {
	kept := &fake{}
	s, stop := build(t, relay.Config{Store: kept, Unthrottled: true})
	defer stop()
	forged := bytes.ReplaceAll(lines(16), []byte(`"content":"`), []byte(`"content":"forged `+strings.Repeat("x", 50_000)))
	ctx, cancel := context.WithCancel(t.Context())
	_, _ = s.Import(ctx, endingIn{bytes.NewReader(forged), cancel}, relay.Import{Rejects: filepath.Join(t.TempDir(), "rejects")})
	if n := kept.len(); n != 0 {
		t.Errorf("%d forged events were saved, want none", n)
	}
}

// A page in a browser on the relay's machine can reach the internal listener, but the
// listener refuses it.
func TestInternalListenerRefusesPages(t *testing.T) {
	s := serve(t, relay.Config{Dir: t.TempDir()})
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.in+"/import?trusted=true", strings.NewReader(""))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Origin", "https://page.example")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("an import by a page: %s, want 403", answer.Status)
	}
	page := &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {"https://page.example"}}}
	for url, admitted := range map[string]bool{s.url: true, s.in: false} {
		socket, _, err := websocket.Dial(t.Context(), url, page)
		if (err == nil) != admitted {
			t.Errorf("a page that connects to %s: %v, want it admitted: %v", url, err, admitted)
		}
		if err == nil {
			socket.CloseNow()
		}
	}
}
