package proxytest

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/weir-go/weir/internal/tcptest"
)

// A configured is a weir proxy with a configuration file that a test may change.
type configured struct {
	peer
	file, probes     string
	address, operate string
	to               []string
	protocol         string // protocol of the upstreams
}

// newConfigured chooses addresses and a file, but starts no process.
func newConfigured(t testing.TB, to ...peer) *configured {
	t.Helper()
	c := &configured{
		file: filepath.Join(t.TempDir(), "weir.yaml"), probes: tcptest.FreeAddress(t), address: tcptest.FreeAddress(t), operate: tcptest.FreeAddress(t), protocol: "http1",
	}
	for _, up := range to {
		c.to = append(c.to, up.url)
	}
	return c
}

// start starts the proxy, or starts it again after it was stopped.
func (c *configured) start(t testing.TB) {
	t.Helper()
	c.peer = startConfigured(t, c.file, c.address, c.operate, "http://"+c.probes+"/ready")
}

// write writes the file: the addresses and more.
func (c *configured) write(t testing.TB, more string) {
	t.Helper()
	write(t, c.file, fmt.Sprintf(`listeners:
  - address: %q
    trusted: [127.0.0.1] # the balancer, and whoever tries to smuggle past one
upstreams:
  api:
    addresses: ["%s"]
    protocol: %s
admin:
  address: %q
  pprof: true
probes:
  address: %q
%s`, c.address, strings.Join(c.to, `", "`), c.protocol, c.operate, c.probes, more))
}

// applied reports whether the current configuration contains the text.
func (c *configured) applied(t testing.TB, what string) bool {
	t.Helper()
	status, text := get(t, c.admin+"/-/weir/config")
	return status == 200 && strings.Contains(text, what)
}

var (
	goroutineTotal = regexp.MustCompile(`(?m)^goroutine profile: total (\d+)`)
	heapInUse      = regexp.MustCompile(`(?m)^# HeapInuse = (\d+)`)
)

// remains returns the number of goroutines of a proxy and, after a garbage collection, its
// heap in bytes.
func (p peer) remains(t testing.TB) (goroutines, heap float64) {
	t.Helper()
	return p.profiled(t, "goroutine?debug=1", goroutineTotal), p.profiled(t, "heap?gc=1&debug=1", heapInUse)
}

func (p peer) profiled(t testing.TB, profile string, what *regexp.Regexp) float64 {
	t.Helper()
	_, text := get(t, p.admin+"/debug/pprof/"+profile)
	m := what.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("/debug/pprof/%s does not say %v", profile, what)
	}
	value, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}
