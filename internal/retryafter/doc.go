// Package retryafter reads the Retry-After header of HTTP (RFC 9110, section 10.2.3), for clients that obey it and proxies
// that pass it on.
package retryafter
