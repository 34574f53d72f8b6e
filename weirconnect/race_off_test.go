//go:build !race

package weirconnect_test

const raceEnabled = false
