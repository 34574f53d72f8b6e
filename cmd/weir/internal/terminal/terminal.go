// Package terminal reads the size of terminals.
package terminal

import "os"

// Size returns the columns and rows of the file's terminal. ok is false if the file is no
// terminal, or its size is unknown.
func Size(file *os.File) (columns, rows int, ok bool) {
	columns, rows, err := size(file.Fd())
	return columns, rows, err == nil && columns > 0 && rows > 0
}

// Is reports whether the file is a terminal.
func Is(file *os.File) bool {
	_, _, err := size(file.Fd())
	return err == nil
}
