// Package storm puts clients in a closed loop before a database, with or without a throttle, for
// the commands and tests that show what a throttle is worth.
package storm
