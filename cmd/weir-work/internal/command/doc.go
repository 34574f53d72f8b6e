// Package command runs a command for each job of a queue.
//
// # The input of a command
//
// A command gets the payload on its standard input. Its environment is the environment of this
// process without the variables that begin with WEIR_, plus WEIR_JOB_ID and WEIR_JOB_ATTEMPT, which
// counts from 1. No other data of a job reaches the environment.
//
// # Its end
//
// Status 0 is success, status 65 rejects the job for good ([pool.Permanent]), and any other end is
// a failure that may be tried again. The standard output and error are read to their end, and the
// last lines of both together go into the error.
//
// # Its processes
//
// A command and all processes that it starts are a process group. After the command has ended, at
// its time limit, and when the context ends, the group gets SIGTERM, then time to clean up, then
// SIGKILL. When this process dies, for any reason, a guard kills the groups. The guard is a process
// that [StartGuard] starts, and notices the death by the end of a pipe. It cannot reach a process
// that leaves its group, as daemons do by setsid. Nor can it reach a process that a command starts
// before the guard knows the command, if this process is killed in that moment. Other systems than
// Unix have no groups: only the command itself is killed there.
package command
