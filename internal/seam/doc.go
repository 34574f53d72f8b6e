// Package seam gives the packages of this module access to the parts of a weir.Limiter that
// package weir does not export: its node in the admission core, a place in a group, the
// settings with their defaults.
//
// Packages bulkhead and throttle build on it. Users do not need it, so it is not in the API of
// package weir, which would have to keep it. Package weir imports this package, so its types are
// parameters here. Package weir calls [Provide] at its initialisation, and each importer calls [Of]
// with the same types at its own.
package seam
