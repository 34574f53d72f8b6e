// Package seam gives the packages of this module access to what a weir.Limiter has and package weir
// does not export: its node in the admission core, a place in a group, the settings that the
// defaults complete.
//
// Packages bulkhead and throttle build on it. Users have no need of it, so it is no part of the API
// of package weir, which would have to keep it. Package weir stands above this one, so its types
// are parameters here: it calls [Provide] when it is initialised, and those that import it call
// [Of] with the same types when they are.
package seam
