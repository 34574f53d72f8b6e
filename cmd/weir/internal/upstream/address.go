package upstream

import (
	"net/url"
	"path"
	"strings"
)

// An address is one server of a pool.
type address struct {
	text   string // as configured
	scheme string // http or https
	host   string // with the port, if one is given
	socket string // path of a Unix socket
	raw    string // base path, escaped, without a slash at its end
	base   string // raw, unescaped
	*record
	*connections
}

// parseAddress reads http://host:port/path, https://host:port/path, or unix:/path of a socket, as a
// configuration has them.
func parseAddress(text string) (*address, error) {
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Scheme == "unix" {
		return &address{text: text, scheme: "http", host: "localhost", socket: u.Path}, nil
	}
	raw := strings.TrimSuffix(u.EscapedPath(), "/")
	base, err := url.PathUnescape(raw)
	return &address{text: text, scheme: u.Scheme, host: u.Host, raw: raw, base: base}, err
}

// locate changes the URL of a request to its place at the address.
func (a *address) locate(u *url.URL) {
	if a.raw != "" {
		if climbs(u.Path) { // including escaped dots, with which a client could leave the base path
			u.Path, u.RawPath = path.Clean("/"+u.Path), ""
		}
		u.Path, u.RawPath = join(a.base, u.Path), join(a.raw, u.EscapedPath())
	}
	u.Scheme, u.Host, u.User = a.scheme, a.host, nil
}

// climbs reports whether a path has a ".." segment.
func climbs(path string) bool { return strings.Contains("/"+path+"/", "/../") }

func join(base, rest string) string {
	return base + "/" + strings.TrimPrefix(rest, "/")
}
