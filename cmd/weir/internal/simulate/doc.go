// Package simulate is what "weir sim" does between its flags and its tables: it reads
// scenarios, runs them over all processors, sums up scores and draws them.
package simulate
