// Package weirotel is said.
package weirotel
