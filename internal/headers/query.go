package headers

import (
	"net/url"
	"strings"
)

// maxParameters is the number of parameters that [url.ParseQuery] reads.
const maxParameters = 10_000

// CleanQuery removes the parameters of a query that [url.ParseQuery] cannot read, because another
// parser may read them as something else. It also encodes spaces, which a path of HTTP/2 may have,
// and which would end the target of a request of HTTP/1. It drops a query with too many parameters.
func CleanQuery(query string) string {
	if strings.Count(query, "&") >= maxParameters {
		return ""
	}
	for i := 0; i < len(query); i++ {
		c := query[i]
		if c == ';' || c == ' ' || c == '%' && (i+2 >= len(query) || !isHex(query[i+1]) || !isHex(query[i+2])) {
			values, _ := url.ParseQuery(query)
			return values.Encode()
		}
	}
	return query
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
