package proxytest

import (
	"encoding/xml"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/summerwind/h2spec"
	"github.com/summerwind/h2spec/config"
	"github.com/weir-go/weir/internal/must"
)

// TestClientH2spec checks the listener against the specification of HTTP/2: it must pass
// every case that net/http's own server passes.
func TestClientH2spec(t *testing.T) {
	trial(t)
	p := newConfigured(t, startUpstream(t, upstream{}))
	p.write(t, "")
	p.start(t)
	// A net/http server, for comparison.
	theirs := specified(t, startUpstream(t, upstream{}).url, either(patient, 300*time.Millisecond))
	failed := 0
	passed := specified(t, p.url, either(patient, 300*time.Millisecond))
	for name, ok := range passed {
		if !ok && theirs[name] && !full() { // perhaps because the machine was busy
			passed = specified(t, p.url, patient)
			break
		}
	}
	for name, ok := range passed {
		if !ok {
			failed++
		}
		if !ok && theirs[name] {
			t.Errorf("%s fails, and passes before net/http", name)
		}
	}
	tb := newTable(t, "h2spec", "cases", "failed")
	tb.row(len(passed), failed)
}

// patient is how long a case of h2spec waits for an answer or for silence.
const patient = 2 * time.Second

// specified runs all cases against a server and returns the ones it passed.
func specified(t *testing.T, url string, timeout time.Duration) (passed map[string]bool) {
	t.Helper()
	host, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.xml")
	_, err = h2spec.Run(&config.Config{
		Host: host, Port: number, Path: "/bytes?n=1024", Timeout: timeout, MaxHeaderLen: http.DefaultMaxHeaderBytes / 256, JUnitReport: file,
	})
	if err != nil {
		t.Fatal(err)
	}
	text := must.Have(os.ReadFile(file))(t)
	var report struct {
		Suites []struct {
			Name  string `xml:"package,attr"`
			Cases []struct {
				Name    string    `xml:"classname,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	must.Do(t, xml.Unmarshal(text, &report))
	passed = map[string]bool{}
	for _, suite := range report.Suites {
		for _, c := range suite.Cases {
			passed[suite.Name+" "+c.Name] = c.Failure == nil && c.Error == nil
		}
	}
	if len(passed) < 100 {
		t.Fatalf("h2spec reports %d cases:\n%.2000s", len(passed), text)
	}
	return passed
}
