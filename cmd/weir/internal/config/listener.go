package config

import (
	"net"

	"github.com/weir-go/weir/trust"
)

// Listener is an address that clients connect to.
type Listener struct {
	Address       string     `yaml:"address" form:"address" default:":8080" live:"no" help:"host:port, or unix:/path of a socket."`
	Protocols     []string   `yaml:"protocols" enum:"http1,http2" default:"http1,http2" live:"no" help:"The versions of HTTP. http2 needs TLS, or clients with prior knowledge (h2c)."`
	TLS           *ServerTLS `yaml:"tls,omitempty" live:"no" help:"The certificate. Without it, connections are not encrypted."`
	ProxyProtocol []string   `yaml:"proxy_protocol" form:"network" help:"Networks of balancers that begin each connection with the PROXY protocol, version 1 or 2. Other peers are refused."`
	Trusted       []string   `yaml:"trusted" form:"network" help:"Networks of your own proxies, such as 10.0.0.0/8. The proxy keeps their X-Forwarded-*, X-Real-IP, Weir-Priority, Weir-Timeout-Ms, request identifiers and traceparent."`
	Underscores   bool       `yaml:"underscores" help:"Passes on headers and trailers with underscores in their names. By default the proxy drops them, because CGI and WSGI read X_Forwarded_For as X-Forwarded-For."`

	HeaderTimeout Duration `yaml:"header_timeout" default:"10s" live:"no" help:"How long a client may take to send its headers, or its part of a TLS handshake. 0 is no limit."`
	BodyTimeout   Duration `yaml:"body_timeout" default:"30s" help:"How long a client may stall while it sends or reads a body. 0 is no limit."`
	BodyRate      Bytes    `yaml:"body_rate" default:"240" max:"1GiB" help:"The least rate of a body, in bytes a second, while the proxy waits for it. A client that falls behind by body_timeout gets a 408. 0, or a body_timeout of 0, is no limit. Calls of a route with grpc are exempt, and so are bodies that continue after the response has begun."`
	IdleTimeout   Duration `yaml:"idle_timeout" default:"2m" live:"no" help:"How long a connection may stay without a request. 0 is no limit."`

	MaxConnections           int   `yaml:"max_connections" default:"10000" min:"1" help:"Connections of this listener. One more replaces the connection that has waited longest for a request. If all have requests, the new one is closed."`
	MaxConnectionsPerAddress int   `yaml:"max_connections_per_address" default:"0" help:"Connections of one client address, or of one /64 network for IPv6; 0 is no limit. Trusted peers are not counted."`
	MaxHeader                Bytes `yaml:"max_header" default:"64KiB" min:"1KiB" max:"16MiB" live:"no" help:"The size of a request's headers."`
	MaxStreams               int   `yaml:"max_streams" default:"100" min:"1" live:"no" help:"Requests at a time on one HTTP/2 connection."`
	MaxResets                int   `yaml:"max_resets" default:"1000" min:"1" help:"Requests that a client may reset on one HTTP/2 connection before it must open another."`
}

// ServerTLS is the proxy's own certificate and its demands on clients. The files are read
// again when they change.
type ServerTLS struct {
	Certificate string `yaml:"certificate" required:"yes" help:"File of the certificate chain, PEM."`
	Key         string `yaml:"key" required:"yes" help:"File of its key, PEM."`
	ClientCA    string `yaml:"client_ca" help:"File of authorities that sign client certificates, PEM. Without it the proxy requests no certificates."`
	Clients     string `yaml:"clients" enum:"require,request" default:"require" help:"Whether every client must have a certificate."`
	Minimum     string `yaml:"minimum" enum:"1.2,1.3" default:"1.2" help:"The oldest version of TLS."`
}

// ClientTLS is the proxy's TLS to an upstream. The files are read again when they change.
type ClientTLS struct {
	CA          string `yaml:"ca" help:"File of authorities to trust, PEM. Defaults to the system's."`
	Certificate string `yaml:"certificate" help:"File of the proxy's certificate, PEM."`
	Key         string `yaml:"key" help:"File of its key, PEM."`
	ServerName  string `yaml:"server_name" help:"Name that the server's certificate must have. Defaults to the host of the address."`
}

// Peers returns the peers in the networks of a configuration that was checked.
func Peers(networks []string) trust.Peers {
	peers, err := trust.Networks(networks...)
	if err != nil {
		panic(err) // the tag form of the setting has let it pass
	}
	return peers
}

func (c *checker) listeners() {
	for i, l := range c.Listeners {
		path := item("listeners", i)
		if len(l.Protocols) == 0 {
			c.refuse(path+".protocols", "is empty: want http1, http2 or both")
		}
		if len(l.ProxyProtocol) > 0 && isSocket(l.Address) {
			c.refuse(path+".proxy_protocol", "is set for a socket, of which no peer has a network: want an address with a port, or no proxy_protocol")
		}
		if l.TLS != nil {
			c.keyPair(path+".tls", l.TLS.Certificate, l.TLS.Key)
			c.authorities(path+".tls.client_ca", l.TLS.ClientCA)
		}
	}
}

// addresses checks that no two listeners have the same address.
func (c *checker) addresses() {
	taken := map[string]string{}
	take := func(path, address string) {
		if _, port, _ := net.SplitHostPort(address); port == "0" || address == "" {
			return // the system chooses the port, or there is no address
		}
		if other, ok := taken[address]; ok {
			c.refuse(path, "is %s, as %s is%s: want another", quoted(address), other, line(c.at(other)))
			return
		}
		taken[address] = path
	}
	for i, l := range c.Listeners {
		take(item("listeners", i)+".address", l.Address)
	}
	take("admin.address", c.Admin.Address)
	take("probes.address", c.Probes.Address)
}
