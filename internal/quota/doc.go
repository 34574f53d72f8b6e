// Package quota bounds the amount of a resource that all keys may have together, and the amount of
// each key: slots of uploads and of streams, and bytes of files by client.
package quota
