// Package quota bounds how much of something many may have together, and each of them: slots of
// uploads by gate or by client, bytes of files by client.
package quota
