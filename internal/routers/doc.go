// Package routers has no code. Its examples put limiters of package weirhttp into the routers that
// people have: each route a compartment of its own, by the pattern that the router was given.
package routers
