// Package dag keeps track of the tasks that wait for other tasks, in a graph that grows while its
// tasks run.
//
// A task may be added before the tasks that it waits for. An edge closes a cycle only if a path
// leads from its end to its start, and no path leads to a task that no other task waits for yet. So
// a task that is added after its dependencies needs no search. Any other task needs one walk along
// its dependencies.
package dag
