// Package reply has the replies to a request for admission: a [Verdict] and, if that is
// [Admitted], the [Ticket] of the work. Both the queue and the admission core use them, so
// they are below both.
package reply
