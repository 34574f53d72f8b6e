// Package storm runs clients in a closed loop against a database, with or without a
// throttle, for the commands and tests that measure the effect of a throttle.
package storm
