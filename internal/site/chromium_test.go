package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A browser is a Chromium controlled through pipes, by the few protocol calls that these
// tests need: https://chromedevtools.github.io/devtools-protocol.
type browser struct {
	mu      sync.Mutex // guards the fields below
	to      io.Writer
	calls   int
	answers map[int]chan answer
	loaded  map[string]chan struct{} // by the session of the tab
}

// An answer is a message from Chromium: the result of a call, or an event.
type answer struct {
	ID        int             `json:"id"`
	Method    string          `json:"method"`
	SessionID string          `json:"sessionId"`
	Result    json.RawMessage `json:"result"`
	Error     *struct{ Message string }
}

// startBrowser starts Chromium until the test ends.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil && program == "" {
			program = found
		}
	}
	if program == "" {
		t.Fatal("Chromium is missing: run scripts/site install")
	}
	// Chromium reads its descriptor 3 and writes to 4.
	theirs, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, their2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{theirs, their2}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	their2.Close()
	b := &browser{to: to, answers: map[int]chan answer{}, loaded: map[string]chan struct{}{}}
	var reader sync.WaitGroup
	reader.Go(func() { b.read(from) })
	t.Cleanup(func() {
		b.send(t, "", "Browser.close", nil)
		reader.Wait()
		cmd.Wait()
		to.Close()
		from.Close()
	})
	return b
}

// read dispatches the messages of Chromium until it ends.
func (b *browser) read(from io.Reader) {
	for r := bufio.NewReader(from); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			break
		}
		var a answer
		if json.Unmarshal(text[:len(text)-1], &a) != nil {
			continue
		}
		b.mu.Lock()
		if a.Method == "Page.loadEventFired" {
			b.loaded[a.SessionID] <- struct{}{}
		} else if waiting := b.answers[a.ID]; waiting != nil {
			waiting <- a
			delete(b.answers, a.ID)
		}
		b.mu.Unlock()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, waiting := range b.answers {
		close(waiting)
	}
	b.answers = nil
}

// send calls a method, of a tab unless the session is empty, and returns a channel for the
// answer.
func (b *browser) send(t *testing.T, session, method string, params map[string]any) <-chan answer {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	waiting := make(chan answer, 1)
	if b.answers == nil {
		close(waiting)
		return waiting
	}
	b.answers[b.calls] = waiting
	call := map[string]any{"id": b.calls, "method": method, "params": params}
	if session != "" {
		call["sessionId"] = session
	}
	text, err := json.Marshal(call)
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		t.Errorf("%s: %v", method, err)
	}
	return waiting
}

// call calls a method and reads its result.
func (b *browser) call(t *testing.T, session, method string, params map[string]any, result any) {
	t.Helper()
	a, ok := <-b.send(t, session, method, params)
	err := fmt.Errorf("Chromium ended")
	if ok {
		err = nil
		if a.Error != nil {
			err = fmt.Errorf("%s", a.Error.Message)
		} else if result != nil {
			err = json.Unmarshal(a.Result, result)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
}

// A tab is a page of the browser.
type tab struct {
	*browser
	session string
}

func (b *browser) tab(t *testing.T) tab {
	t.Helper()
	var made struct{ TargetID, SessionID string }
	b.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	b.call(t, "", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	b.mu.Lock()
	b.loaded[made.SessionID] = make(chan struct{}, 8) // more than a tab loads at a time
	b.mu.Unlock()
	b.call(t, made.SessionID, "Page.enable", nil, nil)
	return tab{b, made.SessionID}
}

// open loads a page, and returns when its style and pictures are loaded.
func (tab tab) open(t *testing.T, url string) {
	t.Helper()
	tab.call(t, tab.session, "Page.navigate", map[string]any{"url": url}, nil)
	tab.mu.Lock()
	loaded := tab.loaded[tab.session]
	tab.mu.Unlock()
	<-loaded
}

// look sets the size of the window and the colour scheme.
func (tab tab) look(t *testing.T, width, height int, scheme string) {
	t.Helper()
	tab.call(t, tab.session, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	tab.call(t, tab.session, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// eval runs a script in the page, and decodes the value that it returns or promises.
func (tab tab) eval(t *testing.T, script string, result any) {
	t.Helper()
	var said struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	tab.call(t, tab.session, "Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &said)
	if said.ExceptionDetails != nil {
		t.Fatalf("in the page: %s", said.ExceptionDetails.Exception.Description)
	}
	if result != nil {
		if err := json.Unmarshal(said.Result.Value, result); err != nil {
			t.Fatal(err)
		}
	}
}

// screenshot writes a picture of the page from its top, up to a height.
func (tab tab) screenshot(t *testing.T, file string) {
	t.Helper()
	var shot struct{ Data []byte }
	tab.call(t, tab.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	if err := writeFile(file, shot.Data); err != nil {
		t.Fatal(err)
	}
}
