// Package storm measures the effect of a throttle on a real database: the same storm of
// closed-loop clients runs without a throttle and with several, in turn, so that other load
// of the machine affects all of them.
//
//	scripts/all go test ./internal/dbtest/storm -run Badger$ -v -timeout 30m -repeats 5
//
// prints a table of medians and compares them with the targets. Without -repeats only TestBadger
// runs, for some seconds and without targets.
package storm
