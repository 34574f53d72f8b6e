// Package reply has the replies to a request for admission: a [Verdict] and, if the verdict is
// [Admitted], the [Ticket] of the work. Both the queue and the admission core use the replies, so
// this package imports neither of them.
package reply
