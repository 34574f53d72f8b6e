// Package handover has the requests that the command weir hands over to its companions: to
// weir-work, which it becomes for all that concerns jobs, and to weir-fleet. weir knows the flags
// and the file of the proxy; they know the queue and the store.
package handover
