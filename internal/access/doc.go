// Package access decides which requests an operator's page may serve: requests for this machine,
// and requests with a token.
package access
