// Package oraclecache stores oracles and baselines of the simulator in files, for the commands that
// score one law after another. To find an oracle takes forty times as long as to try a law.
package oraclecache
