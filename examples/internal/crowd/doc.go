// Package crowd is shared by the examples: clients that overload a service, and a line a
// second with the outcomes of their calls.
package crowd
