package listen

import "strings"

// A transport refuses to send a request with these characters, or sends it without its host.
// That would count as a failure of the upstream, although the client alone causes it.

// noToken reports whether c is not allowed in methods and names (RFC 9110, 5.6.2).
func noToken(c rune) bool { return !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", c) }

// noHost reports whether c is not allowed in hosts. net/http accepts the allowed characters in the
// Host header.
func noHost(c rune) bool {
	return !isAlphanumeric(c) && !strings.ContainsRune("!$%&'()*+,-.:;=[]_~", c)
}

func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
