// Package wire writes snapshots as JSON.
package wire
