package proxytest

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCrashLeavesNoBodies kills a proxy while bodies wait in its files. Their folder must
// then be empty, and the next proxy must accept bodies.
func TestCrashLeavesNoBodies(t *testing.T) {
	trial(t)
	const bodies, size = 20, 1_000_000
	folder := t.TempDir()
	c := newConfigured(t, startUpstream(t, upstream{}))
	c.write(t, fmt.Sprintf("buffers: {directory: %q}\n", folder))
	for range 3 {
		c.start(t)
		for n := range bodies {
			conn, err := net.Dial("tcp", c.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := fmt.Fprintf(conn, "POST /%d HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n%s",
				n, size, strings.Repeat("x", size/2)); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "half of each body is in a file", func() bool { return len(c.openIn(t, folder)) == bodies })
		c.kill()
		if names, err := os.ReadDir(folder); err != nil || len(names) != 0 {
			t.Errorf("a crash leaves %v, error %v", names, err)
		}
	}
	c.start(t)
	res, err := http.Post(c.url+"/echo", "", strings.NewReader(strings.Repeat("x", size)))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if n, err := io.Copy(io.Discard, res.Body); res.StatusCode != http.StatusOK || n != size || err != nil {
		t.Errorf("after the crashes: status %d, %d bytes, error %v", res.StatusCode, n, err)
	}
	c.stop(t)
	if names, err := os.ReadDir(folder); err != nil || len(names) != 0 {
		t.Errorf("the end leaves %v, error %v", names, err)
	}
}

// openIn returns the files in a folder that the process has open, including unnamed ones.
func (p *process) openIn(t testing.TB, folder string) (open []string) {
	t.Helper()
	links, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", p.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if name, err := os.Readlink(link); err == nil && strings.HasPrefix(name, folder) {
			open = append(open, name)
		}
	}
	return open
}
