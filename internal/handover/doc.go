// Package handover has what the command weir hands over to weir-work, which it becomes for all that
// concerns jobs: weir knows the flags, and weir-work the queue.
package handover
