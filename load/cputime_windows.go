package load

import (
	"syscall"
	"time"
)

// processTime is the processor time of this process.
func processTime() (time.Duration, error) {
	var began, ended, kernel, user syscall.Filetime
	self, err := syscall.GetCurrentProcess()
	if err == nil {
		err = syscall.GetProcessTimes(self, &began, &ended, &kernel, &user)
	}
	return elapsed(kernel) + elapsed(user), err
}

// elapsed converts a duration, which Windows counts in 100 ns.
func elapsed(t syscall.Filetime) time.Duration {
	return time.Duration(int64(t.HighDateTime)<<32|int64(t.LowDateTime)) * 100
}
