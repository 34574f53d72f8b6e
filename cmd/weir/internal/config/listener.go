package config

import (
	"net"
)

// Listener is an address that clients connect to.
type Listener struct {
	Address       string     `yaml:"address" form:"address" default:":8080" live:"no" help:"host:port, or unix:/path of a socket."`
	Protocols     []string   `yaml:"protocols" enum:"http1,http2" default:"http1,http2" live:"no" help:"The versions of HTTP. http2 needs TLS, or clients that know it beforehand (h2c)."`
	TLS           *ServerTLS `yaml:"tls,omitempty" live:"no" help:"Certificates. Without, connections are plain."`
	ProxyProtocol []string   `yaml:"proxy_protocol" form:"network" help:"Networks of balancers that begin each connection with the PROXY protocol, version 1 or 2. Other peers are refused."`
	Trusted       []string   `yaml:"trusted" form:"network" help:"Networks of proxies whose X-Forwarded-*, X-Real-IP, Weir-Priority, Weir-Timeout-Ms, request identifiers and traceparent are believed, such as 10.0.0.0/8."`
	Underscores   bool       `yaml:"underscores" help:"Passes headers and trailers on whose names have underscores. CGI and WSGI take X_Forwarded_For for X-Forwarded-For, so that they are dropped unless this is set."`

	HeaderTimeout Duration `yaml:"header_timeout" default:"10s" live:"no" help:"How long a client may take to send its headers, or its part of a TLS handshake. 0 is any time."`
	BodyTimeout   Duration `yaml:"body_timeout" default:"30s" help:"How long a client may stall while it sends or reads a body. 0 is any time."`
	BodyRate      Bytes    `yaml:"body_rate" default:"240" max:"1GiB" help:"How many bytes a client must send of a body in each second that the proxy waits for it. One that falls behind by body_timeout gets a 408. 0 is any number, as is a body_timeout of 0. Calls of a route with grpc, and a body that is still sent once the response has begun, need not keep it."`
	IdleTimeout   Duration `yaml:"idle_timeout" default:"2m" live:"no" help:"How long a connection may stay without a request. 0 is any time."`

	MaxConnections           int   `yaml:"max_connections" default:"10000" min:"1" help:"Connections of this listener; one above takes the place of that which waits longest for a request, or is closed at once."`
	MaxConnectionsPerAddress int   `yaml:"max_connections_per_address" default:"0" help:"Connections of one client address, or of one /64 network for IPv6; 0 is any number. Trusted peers are not counted."`
	MaxHeader                Bytes `yaml:"max_header" default:"64KiB" min:"1KiB" max:"16MiB" live:"no" help:"Size of a request's headers."`
	MaxStreams               int   `yaml:"max_streams" default:"100" min:"1" live:"no" help:"Requests at a time on one connection of HTTP/2."`
	MaxResets                int   `yaml:"max_resets" default:"1000" min:"1" help:"Requests that a client may reset on one connection of HTTP/2 before it has to open another."`
}

// ServerTLS is the proxy's own certificate and its demands on clients. The files are read
// again when they change.
type ServerTLS struct {
	Certificate string `yaml:"certificate" required:"yes" help:"File of the certificate chain, PEM."`
	Key         string `yaml:"key" required:"yes" help:"File of its key, PEM."`
	ClientCA    string `yaml:"client_ca" help:"File of authorities that sign client certificates, PEM. Without, none are asked for."`
	Clients     string `yaml:"clients" enum:"require,request" default:"require" help:"Whether every client must have a certificate."`
	Minimum     string `yaml:"minimum" enum:"1.2,1.3" default:"1.2" help:"Oldest version of TLS."`
}

// ClientTLS is the proxy's TLS to an upstream. The files are read again when they change.
type ClientTLS struct {
	CA          string `yaml:"ca" help:"File of authorities to believe, PEM. Defaults to the system's."`
	Certificate string `yaml:"certificate" help:"File of the proxy's certificate for the upstream, PEM."`
	Key         string `yaml:"key" help:"File of its key, PEM."`
	ServerName  string `yaml:"server_name" help:"Name that the upstream's certificate must have. Defaults to the host of the address."`
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
		if _, port, _ := net.SplitHostPort(address); port == "0" || address == "" || address == noAddress {
			return // no address, or a port chosen by the system
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
