// Package handover has the requests that the command weir hands over to its companions: to
// weir-work, which it becomes for all commands about jobs, and to weir-fleet. weir knows the flags
// and the file of the proxy. weir-work knows the queue, and weir-fleet knows the store.
package handover
