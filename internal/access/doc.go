// Package access tells which requests an operator's page may serve: those for this machine, and
// those with a token.
package access
