//go:build !linux && !darwin

package disk

// Left reports false: the package does not know how to ask this system.
func Left(string) (bytes uint64, known bool) { return 0, false }
