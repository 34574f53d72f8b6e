// Package quota bounds how much of something many may have together, and each of them: slots of
// uploads and of streams, and bytes of files by client.
package quota
