// Package settings has the shared parts of configurations: the defaults and bounds of a
// limiter, for package weir, the simulator and a pool's scaler, and the text of an error
// about a setting.
package settings
