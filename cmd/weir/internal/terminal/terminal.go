// Package terminal asks terminals for their size.
package terminal

import "os"

// Size returns how many columns and rows the terminal of the file has. It is not ok if the file is
// no terminal, or one that does not know.
func Size(file *os.File) (columns, rows int, ok bool) {
	columns, rows, err := size(file.Fd())
	return columns, rows, err == nil && columns > 0 && rows > 0
}

// Is reports whether the file is a terminal.
func Is(file *os.File) bool {
	_, _, err := size(file.Fd())
	return err == nil
}
