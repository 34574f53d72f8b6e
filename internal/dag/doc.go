// Package dag keeps track of which tasks wait for which others: a graph that grows
// while it is worked off.
//
// A task may be added before the tasks that it waits for. An edge closes a cycle only if the
// task that it starts from can be reached from where it ends, and a task that no other
// waits for yet cannot be reached at all; so tasks that come after those they wait
// for cost no search, and the others one walk along the tasks that they wait for.
package dag
