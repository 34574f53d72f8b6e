package config

import "strings"

// Upstream is a service with one or more equivalent addresses.
type Upstream struct {
	Addresses []string  `yaml:"addresses" required:"yes" form:"server" help:"URLs such as http://10.0.0.1:9000 or https://api.internal, or unix:/path of a socket. A request goes to the less busy of two random addresses."`
	Protocol  string    `yaml:"protocol" enum:"http1,http2" default:"http1" help:"http2 for gRPC: over TLS with https, as h2c with http."`
	TLS       ClientTLS `yaml:"tls" help:"For https."`
	Host      string    `yaml:"host" form:"host" help:"The Host header for the upstream. Defaults to the client's."`
	Health    Health    `yaml:"health" help:"Checks of the addresses."`
	Eject     Eject     `yaml:"eject" help:"Sends no requests for a while to an address that fails them, but ejects at most half of the addresses."`

	ConnectTimeout     Duration `yaml:"connect_timeout" default:"5s" min:"1ms" help:"How long a connection may take to open. If it does not, the request goes to another address."`
	IdleTimeout        Duration `yaml:"idle_timeout" default:"90s" help:"How long an unused connection is kept. 0 is no limit."`
	MaxIdleConnections int      `yaml:"max_idle_connections" default:"1000" min:"1" help:"Unused connections to keep to each address."`
}

// Health has the settings of active checks.
type Health struct {
	Path     string   `yaml:"path" form:"question" help:"The path that a check requests from each address, such as /healthz; a status of 200 to 399 is healthy. Without a path there are no checks."`
	Interval Duration `yaml:"interval" default:"5s" min:"1ms" help:"How often to check."`
	Timeout  Duration `yaml:"timeout" default:"1s" min:"1ms" help:"How long a response may take."`
	Failures int      `yaml:"failures" default:"3" min:"1" help:"Failures in a row that make an address unhealthy."`
	Passes   int      `yaml:"passes" default:"2" min:"1" help:"Successes in a row that make it healthy again."`
}

// Eject has the settings of passive checks, by the results of requests.
type Eject struct {
	Failures int      `yaml:"failures" default:"5" help:"Failures in a row that eject an address: no response, or a 502, 503 or 504. 0 ejects no address."`
	For      Duration `yaml:"for" default:"10s" min:"1ms" help:"How long it then gets no requests."`
}

func (c *checker) upstreams() {
	for name, u := range c.Upstreams {
		path := join("upstreams", name)
		secure := false
		seen := map[string]bool{}
		for i, address := range u.Addresses {
			if server := serverOf(address); seen[server] {
				c.refuse(item(path+".addresses", i), "is %s, as one before it is", quoted(address))
			} else {
				seen[server] = true
			}
			secure = secure || strings.HasPrefix(address, "https:")
		}
		if u.TLS != (ClientTLS{}) && !secure {
			c.refuse(path+".tls", "is set, and no address has https: want one, or no tls")
		}
		c.keyPair(path+".tls", u.TLS.Certificate, u.TLS.Key)
		c.authorities(path+".tls.ca", u.TLS.CA)
	}
}
