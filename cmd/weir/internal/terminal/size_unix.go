//go:build unix

package terminal

import "golang.org/x/sys/unix"

func size(fd uintptr) (columns, rows int, err error) {
	s, err := unix.IoctlGetWinsize(int(fd), unix.TIOCGWINSZ) //nolint:gosec // a file descriptor is small
	if err != nil {
		return 0, 0, err
	}
	return int(s.Col), int(s.Row), nil
}
