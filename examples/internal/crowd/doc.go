// Package crowd is shared by the examples: clients that ask for more than a service can do, and a
// line a second of how they fare. What the examples show is in their own files.
package crowd
