// Package routers has no code. Its examples put limiters of package weirhttp into popular routers.
// Each route gets a compartment of its own, by the pattern that the router was given.
package routers
