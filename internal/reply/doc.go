// Package reply has the replies to a request for admission: a [Verdict] and, if that is
// [Admitted], the [Ticket] of the work. Both the queue and the admission core speak of them,
// so they stand below both.
package reply
