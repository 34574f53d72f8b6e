package pages

import (
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Resident returns the resident memory of a process in bytes, as Linux knows it: the part that
// belongs to no file, and all of it. The process is a number or "self". The system is the root of
// the files in which Linux describes itself, os.DirFS("/").
func Resident(system fs.FS, process string) (anonymous, all uint64, err error) {
	text, err := fs.ReadFile(system, path.Join("proc", process, "statm"))
	if err != nil {
		return 0, 0, err
	}
	var size, resident, shared uint64 // in pages
	if _, err := fmt.Sscan(string(text), &size, &resident, &shared); err != nil {
		return 0, 0, err
	}
	page := uint64(os.Getpagesize())
	return (resident - min(shared, resident)) * page, resident * page, nil
}
