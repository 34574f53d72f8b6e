//go:build race

package weirgrpc_test

const raceEnabled = true
