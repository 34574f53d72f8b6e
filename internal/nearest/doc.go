// Package nearest gives advice about unknown names.
package nearest
