// Package storm measures the worth of a throttle to a real database: the same storm of
// closed-loop clients without a throttle and with several, in turn, so that whatever else
// the machine does happens to all of them.
//
//	scripts/all go test ./internal/dbtest/storm -run Badger$ -v -timeout 30m -repeats 5
//
// prints a table of medians and holds them against the targets. Without -repeats each
// storm takes a second or two and is held against nothing, but has to run.
package storm
