// Package settings has what configurations share: the defaults and bounds of a limiter, which
// package weir, the simulator and a pool's scaler all have, and the words of an error about a
// setting.
package settings
