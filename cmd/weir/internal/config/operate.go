package config

import (
	"fmt"
	"net"
	"net/netip"
	"strings"

	"github.com/weir-go/weir/cmd/weir/internal/paths"
)

// Admin is the operators' listener.
type Admin struct {
	Address string   `yaml:"address" default:"127.0.0.1:8081" live:"no" help:"host:port, unix:/path of a socket, or none. An address that is neither loopback nor a socket needs a token."`
	Token   string   `yaml:"token" help:"File with the token that a request must send, as Authorization: Bearer TOKEN. Changes always need it, so without a token there are no changes."`
	Hosts   []string `yaml:"hosts" form:"host" help:"Host names of the admin address, besides loopback addresses and the listener's own. Requests for other hosts are refused, because pages of other sites could send them through a browser."`
	Pprof   bool     `yaml:"pprof" help:"Serves profiles below /debug/pprof/."`
}

// Probes answer a platform, without a token.
type Probes struct {
	Address string `yaml:"address" form:"address" live:"no" help:"host:port of a listener for /live and /ready."`
	Metrics bool   `yaml:"metrics" help:"Serves /metrics there, too."`
}

// Log is the proxy's log.
type Log struct {
	Format    string `yaml:"format" enum:"auto,text,json" default:"auto" live:"no" help:"auto is text on a terminal, and json elsewhere."`
	Access    bool   `yaml:"access" help:"Logs a line for each request."`
	Decisions bool   `yaml:"decisions" default:"true" help:"Logs changes of limits with their reasons, and refusals, each at most once a second."`
}

// Trace is the destination of spans.
type Trace struct {
	Endpoint string  `yaml:"endpoint" form:"collector" live:"no" help:"URL of a collector of OTLP over HTTP, such as http://127.0.0.1:4318/v1/traces. Without it the proxy sends no spans, but passes on traceparent."`
	Sample   float64 `yaml:"sample" default:"0.01" max:"1" help:"The share of traces for which spans are sent. For a trusted traceparent, its own flag decides."`
	Service  string  `yaml:"service" required:"yes" default:"weir" live:"no" help:"The name of the service."`
}

const noAddress = "none" // turns the admin listener off

// These lengths bound a token. 16 hexadecimal digits drawn by openssl have 64 bits, too many to
// guess with requests.
const (
	minToken = 16
	maxToken = 4 << 10
)

// ReadToken returns the token in a file: its only word.
func ReadToken(file string) (string, error) {
	text, err := readUpTo(file, maxToken+1)
	if err != nil {
		return "", fmt.Errorf("%w: want a file with a token", paths.Cause(err))
	}
	words := strings.Fields(string(text))
	if len(words) != 1 || len(words[0]) < minToken || len(text) > maxToken {
		return "", fmt.Errorf("want one line of %d to %d characters without spaces, such as openssl rand -hex 32 writes", minToken, maxToken)
	}
	return words[0], nil
}

func (c *checker) admin() {
	switch address := c.Admin.Address; {
	case address == noAddress:
	case !isAddress(address):
		c.isnt("admin.address", address, wantAddress+", or none")
	case !isSocket(address) && !isLoopback(address) && c.Admin.Token == "":
		c.isnt("admin.address", address, "a loopback address, a socket, or a token in admin.token")
	}
	if file := c.Admin.Token; file != "" {
		if _, err := ReadToken(file); err != nil {
			c.refuse("admin.token", "is %s: %v", quoted(file), err)
		}
	}
}

func (c *checker) probes() {
	if c.Probes.Address == "" && c.Probes.Metrics {
		c.refuse("probes.metrics", "is true without a listener of the probes: want probes.address")
	}
}

func isLoopback(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip, err := netip.ParseAddr(host)
	return strings.EqualFold(host, "localhost") || err == nil && ip.Unmap().IsLoopback()
}
