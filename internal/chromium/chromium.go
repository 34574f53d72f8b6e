package chromium

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/weir-go/weir/internal/must"
)

// A Tab is the page of a Chromium that is controlled through pipes. One goroutine uses it.
type Tab struct {
	to         io.Writer
	from       *bufio.Reader
	session    string
	calls      int
	loads      int // pages loaded so far
	complaints []string
}

// A message of Chromium is the result of a call, or an event.
type message struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// isComplaint reports whether a message says that something is wrong in the page.
func (m message) isComplaint() bool {
	var logged struct{ Entry struct{ Level string } }
	return m.Method == "Runtime.exceptionThrown" ||
		m.Method == "Log.entryAdded" && json.Unmarshal(m.Params, &logged) == nil && logged.Entry.Level == "error"
}

// Start starts Chromium until the test ends, and opens a tab.
func Start(t testing.TB) *Tab {
	t.Helper()
	// Chromium reads its descriptor 3 and writes to 4.
	reads, to, err := os.Pipe()
	must.Do(t, err)
	from, writes, err := os.Pipe()
	must.Do(t, err)
	cmd := exec.Command(program(t), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+filepath.Join(t.TempDir(), "profile"))
	cmd.ExtraFiles = []*os.File{reads, writes}
	must.Do(t, cmd.Start())
	reads.Close()
	writes.Close()
	tab := &Tab{to: to, from: bufio.NewReader(from)}
	t.Cleanup(func() {
		tab.session = ""
		tab.send(t, "Browser.close", nil)
		_, _ = io.Copy(io.Discard, from)
		_ = cmd.Wait()
		to.Close()
		from.Close()
	})
	var made struct{ TargetID, SessionID string }
	tab.call(t, "Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	tab.call(t, "Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &made)
	tab.session = made.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log"} {
		tab.call(t, domain+".enable", nil, nil)
	}
	return tab
}

func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "google-chrome", "chromium-browser"} {
		if found, err := exec.LookPath(name); err == nil {
			return found
		}
	}
	t.Fatal("Chromium is missing: run scripts/site install")
	return ""
}

func (tab *Tab) call(t testing.TB, method string, params map[string]any, result any) {
	t.Helper()
	tab.send(t, method, params)
	m := tab.read(t)
	for m.ID != tab.calls {
		m = tab.read(t)
	}
	if m.Error != nil {
		t.Fatalf("%s: %s", method, m.Error.Message)
	}
	if result != nil {
		must.Do(t, json.Unmarshal(m.Result, result))
	}
}

// send calls a method of the tab, or of the browser before the tab is open.
func (tab *Tab) send(t testing.TB, method string, params map[string]any) {
	t.Helper()
	tab.calls++
	call := map[string]any{"id": tab.calls, "method": method, "params": params}
	if tab.session != "" {
		call["sessionId"] = tab.session
	}
	text, err := json.Marshal(call)
	if err == nil {
		_, err = tab.to.Write(append(text, 0))
	}
	if err != nil {
		t.Errorf("%s: %v", method, err)
	}
}

func (tab *Tab) read(t testing.TB) (m message) {
	t.Helper()
	text, err := tab.from.ReadBytes(0)
	if err == nil {
		err = json.Unmarshal(text[:len(text)-1], &m)
	}
	if err != nil {
		t.Fatalf("the browser has ended: %v", err)
	}
	switch {
	case m.Method == "Page.loadEventFired":
		tab.loads++
	case m.isComplaint():
		tab.complaints = append(tab.complaints, string(m.Params))
	}
	return m
}

// Open loads a page, and returns when its style and pictures are loaded.
func (tab *Tab) Open(t testing.TB, url string) {
	t.Helper()
	loads := tab.loads
	tab.call(t, "Page.navigate", map[string]any{"url": url}, nil)
	tab.awaitLoad(t, loads)
}

// Follow runs a script that leads to another page, and returns when the other page is loaded.
func (tab *Tab) Follow(t testing.TB, script string) {
	t.Helper()
	loads := tab.loads
	tab.Eval(t, "void setTimeout(() => {"+script+"})", nil)
	tab.awaitLoad(t, loads)
}

func (tab *Tab) awaitLoad(t testing.TB, before int) {
	t.Helper()
	for tab.loads == before {
		tab.read(t)
	}
}

// Look sets the size of the window and the colour scheme.
func (tab *Tab) Look(t testing.TB, width, height int, scheme string) {
	t.Helper()
	tab.call(t, "Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	tab.call(t, "Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// Eval runs a script in the page, and decodes the value that it returns or promises.
func (tab *Tab) Eval(t testing.TB, script string, result any) {
	t.Helper()
	var said struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Exception struct{ Description string } }
	}
	tab.call(t, "Runtime.evaluate", map[string]any{"expression": script, "awaitPromise": true, "returnByValue": true}, &said)
	if said.ExceptionDetails != nil {
		t.Fatalf("in the page: %s", said.ExceptionDetails.Exception.Description)
	}
	if result != nil {
		must.Do(t, json.Unmarshal(said.Result.Value, result))
	}
}

// Screenshot returns a picture of the page from its top, up to the height of the window, as PNG.
func (tab *Tab) Screenshot(t testing.TB) []byte {
	t.Helper()
	var shot struct{ Data []byte }
	tab.call(t, "Page.captureScreenshot", map[string]any{"format": "png"}, &shot)
	return shot.Data
}

// Keep writes a screenshot into a folder. Without a folder it does nothing.
func (tab *Tab) Keep(t testing.TB, folder, name string) {
	t.Helper()
	if folder != "" {
		must.Do(t, os.MkdirAll(folder, 0o777))
		must.Do(t, os.WriteFile(filepath.Join(folder, name+".png"), tab.Screenshot(t), 0o666))
	}
}

// Errors returns the complaints in the console of the page since the last call.
func (tab *Tab) Errors() []string {
	complaints := tab.complaints
	tab.complaints = nil
	return complaints
}

// Silent fails the test for each complaint in the console of the page since the last call.
func (tab *Tab) Silent(t testing.TB, what string) {
	t.Helper()
	for _, complaint := range tab.Errors() {
		t.Errorf("%s: in the console: %s", what, complaint)
	}
}

// Press presses a key of the keyboard, such as "Tab", "Enter" or "Escape".
func (tab *Tab) Press(t testing.TB, key string) {
	t.Helper()
	down := map[string]any{"type": "keyDown", "key": key, "code": key}
	if key == "Enter" {
		down["text"] = "\r"
	}
	down["windowsVirtualKeyCode"] = map[string]int{"Tab": 9, "Enter": 13, "Escape": 27}[key]
	tab.call(t, "Input.dispatchKeyEvent", down, nil)
	tab.call(t, "Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key}, nil)
}

// Wait waits until an expression is true in the page, up to a minute.
func (tab *Tab) Wait(t testing.TB, expression string) {
	t.Helper()
	var ok bool
	tab.Eval(t, `new Promise(done => {
		const begun = Date.now();
		(function look() {
			if (`+expression+`) done(true);
			else if (Date.now() - begun > 60000) done(false);
			else setTimeout(look, 50);
		})();
	})`, &ok)
	if !ok {
		var text string
		tab.Eval(t, "document.body.innerText.slice(0, 3000)", &text)
		t.Fatalf("%s was not true within a minute in the page, whose console has %q, and its text\n%s", expression, tab.Errors(), text)
	}
}

// Prepare runs a script in each page that the tab opens from now on, before its own scripts.
func (tab *Tab) Prepare(t testing.TB, script string) {
	t.Helper()
	tab.call(t, "Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": script}, nil)
}
