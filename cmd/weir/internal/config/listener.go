package config

// Listener is an address that clients connect to.
type Listener struct {
	Address       string     `yaml:"address" default:":8080" live:"no" help:"host:port, or unix:/path of a socket."`
	Protocols     []string   `yaml:"protocols" enum:"http1,http2" live:"no" help:"What is spoken. http2 needs TLS, or clients that know it beforehand (h2c). Defaults to both."`
	TLS           *ServerTLS `yaml:"tls" live:"no" help:"Certificates. Without, connections are plain."`
	ProxyProtocol []string   `yaml:"proxy_protocol" help:"Networks of balancers that begin each connection with the PROXY protocol, version 1 or 2. Other peers are refused."`
	Trusted       []string   `yaml:"trusted" help:"Networks of proxies whose X-Forwarded-*, Forwarded, X-Real-IP, Weir-Priority, Weir-Timeout-Ms, request identifiers and traceparent are believed, such as 10.0.0.0/8."`

	HeaderTimeout Duration `yaml:"header_timeout" default:"10s" live:"no" help:"How long a client may take to send its headers, or its part of a TLS handshake."`
	BodyTimeout   Duration `yaml:"body_timeout" default:"30s" help:"How long a client may stall while it sends or reads a body."`
	IdleTimeout   Duration `yaml:"idle_timeout" default:"2m" live:"no" help:"How long a connection may stay without a request."`

	MaxConnections           int   `yaml:"max_connections" default:"10000" help:"Connections of this listener; what comes above is closed at once."`
	MaxConnectionsPerAddress int   `yaml:"max_connections_per_address" default:"0" help:"Those of one client address; 0 is any number. Trusted peers are not counted."`
	MaxHeader                Bytes `yaml:"max_header" default:"64KiB" live:"no" help:"Size of a request's headers."`
	MaxStreams               int   `yaml:"max_streams" default:"100" live:"no" help:"Requests at a time on one connection of HTTP/2."`
	MaxResets                int   `yaml:"max_resets" default:"1000" help:"Requests that a client may reset on one connection of HTTP/2 before it is told to open another."`
}

// ServerTLS is the proxy's own certificate, and what it asks of clients. The files are read again when they change.
type ServerTLS struct {
	Certificate string `yaml:"certificate" help:"File of the certificate chain, PEM."`
	Key         string `yaml:"key" help:"File of its key, PEM."`
	ClientCA    string `yaml:"client_ca" help:"File of authorities that sign client certificates, PEM. Without, none are asked for."`
	Clients     string `yaml:"clients" enum:"require,request" default:"require" help:"Whether every client must have a certificate."`
	Minimum     string `yaml:"minimum" enum:"1.2,1.3" default:"1.2" help:"Oldest version of TLS."`
}

// ClientTLS is how the proxy speaks TLS to an upstream. The files are read again when they change.
type ClientTLS struct {
	CA          string `yaml:"ca" help:"File of authorities to believe, PEM. Defaults to the system's."`
	Certificate string `yaml:"certificate" help:"File of the proxy's certificate for the upstream, PEM."`
	Key         string `yaml:"key" help:"File of its key, PEM."`
	ServerName  string `yaml:"server_name" help:"Name that the upstream's certificate must have. Defaults to the host of the address."`
}
