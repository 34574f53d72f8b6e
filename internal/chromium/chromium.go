package chromium

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// A Browser is a Chromium controlled through pipes.
type Browser struct {
	mu      sync.Mutex // guards the fields below
	to      io.Writer
	calls   int
	answers map[int]chan answer
	loaded  map[string]chan struct{} // by the session of the tab
	errors  map[string][]string      // of a page's console, likewise
}

// An answer is a message from Chromium: the result of a call, or an event.
type answer struct {
	ID        int             `json:"id"`
	Method    string          `json:"method"`
	SessionID string          `json:"sessionId"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct{ Message string }
}

// isError reports whether a message says that something is wrong in a page.
func (a answer) isError() bool {
	var logged struct{ Entry struct{ Level string } }
	return a.Method == "Runtime.exceptionThrown" ||
		a.Method == "Log.entryAdded" && json.Unmarshal(a.Params, &logged) == nil && logged.Entry.Level == "error"
}

// Start starts Chromium until the test ends.
func Start(t testing.TB) *Browser {
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
	b := &Browser{to: to, answers: map[int]chan answer{}, loaded: map[string]chan struct{}{}, errors: map[string][]string{}}
	var reader sync.WaitGroup
	reader.Go(func() { b.read(from) })
	t.Cleanup(func() {
		b.send(t, "", "Browser.close", nil)
		reader.Wait()
		_ = cmd.Wait()
		to.Close()
		from.Close()
	})
	return b
}

// read dispatches the messages of Chromium until it ends.
func (b *Browser) read(from io.Reader) {
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
		} else if a.isError() {
			b.errors[a.SessionID] = append(b.errors[a.SessionID], string(a.Params))
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
func (b *Browser) send(t testing.TB, session, method string, params map[string]any) <-chan answer {
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
func (b *Browser) call(t testing.TB, session, method string, params map[string]any, result any) {
	t.Helper()
	a, ok := <-b.send(t, session, method, params)
	err := errors.New("the browser has ended")
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

// A Tab is a page of the browser.
type Tab struct {
	*Browser
	session string
}

// Tab opens a tab.
func (b *Browser) Tab(t testing.TB) Tab {
	t.Helper()
	var made struct{ TargetID, SessionID string }
	b.call(t, "", "Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	b.call(t, "", "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	b.mu.Lock()
	b.loaded[made.SessionID] = make(chan struct{}, 8) // more than a tab loads at a time
	b.mu.Unlock()
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		b.call(t, made.SessionID, domain+".enable", nil, nil)
	}
	return Tab{b, made.SessionID}
}

// Open loads a page, and returns when its style and pictures are loaded.
func (tab Tab) Open(t testing.TB, url string) {
	t.Helper()
	tab.call(t, tab.session, "Page.navigate", map[string]any{"url": url}, nil)
	<-tab.load()
}

// Follow runs a script that leads to another page, and returns when that is loaded.
func (tab Tab) Follow(t testing.TB, script string) {
	t.Helper()
	tab.Eval(t, "void setTimeout(() => {"+script+"})", nil)
	<-tab.load()
}

// load returns the channel of the tab's loaded pages.
func (tab Tab) load() <-chan struct{} {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	return tab.loaded[tab.session]
}

// Look sets the size of the window and the colour scheme.
func (tab Tab) Look(t testing.TB, width, height int, scheme string) {
	t.Helper()
	tab.call(t, tab.session, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	tab.call(t, tab.session, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Eval runs a script in the page, and decodes the value that it returns or promises.
func (tab Tab) Eval(t testing.TB, script string, result any) {
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

// Screenshot writes a picture of the page from its top, up to the height of the window.
func (tab Tab) Screenshot(t testing.TB, file string) {
	t.Helper()
	var shot struct{ Data []byte }
	tab.call(t, tab.session, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	err := os.MkdirAll(filepath.Dir(file), 0o777)
	if err == nil {
		err = os.WriteFile(file, shot.Data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// Errors returns what the console of the page has complained about since the last call.
func (tab Tab) Errors() []string {
	tab.mu.Lock()
	defer tab.mu.Unlock()
	complaints := tab.errors[tab.session]
	delete(tab.errors, tab.session)
	return complaints
}

// Press presses a key of the keyboard, such as "Tab", "Enter" or "Escape".
func (tab Tab) Press(t testing.TB, key string) {
	t.Helper()
	down := map[string]any{"type": "keyDown", "key": key, "code": key}
	if key == "Enter" {
		down["text"] = "\r"
	}
	down["windowsVirtualKeyCode"] = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27}[key]
	tab.call(t, tab.session, "Input.dispatchKeyEvent", down, nil)
	tab.call(t, tab.session, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key}, nil)
}

// Wait waits until an expression is true in the page, up to 20 seconds.
func (tab Tab) Wait(t testing.TB, expression string) {
	t.Helper()
	var ok bool
	tab.Eval(t, `new Promise(done => {
		const begun = Date.now();
		(function look() {
			if (`+expression+`) done(true);
			else if (Date.now() - begun > 20000) done(false);
			else setTimeout(look, 50);
		})();
	})`, &ok)
	if !ok {
		var text string
		tab.Eval(t, "document.body.innerText.slice(0, 3000)", &text)
		t.Fatalf("%s was not true within 20 s in the page, whose console has %q, and its text\n%s", expression, tab.Errors(), text)
	}
}

// Prepare runs a script in each page that the tab opens from now on, before its own scripts.
func (tab Tab) Prepare(t testing.TB, script string) {
	t.Helper()
	tab.call(t, tab.session, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
}
