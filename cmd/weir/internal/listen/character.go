package listen

import "strings"

// A transport refuses to send a request with these characters, or sends it without its host. That
// would pass for a failure of the upstream, though a client alone can bring it about.

// noToken reports whether methods and names have no such character (RFC 9110, 5.6.2).
func noToken(c rune) bool { return !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", c) }

// noHost reports whether hosts have no such character: net/http allows these in the header.
func noHost(c rune) bool {
	return !isAlphanumeric(c) && !strings.ContainsRune("!$%&'()*+,-.:;=[]_~", c)
}

func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
