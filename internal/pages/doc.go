// Package pages takes back the resident pages of files that are mapped into the memory of this
// process.
//
// It uses MADV_PAGEOUT and not MADV_DONTNEED. Between reading where a file is mapped and the
// advice, its owner may unmap it, and the address may become that of other memory of the process,
// such as the heap. MADV_DONTNEED would erase that; MADV_PAGEOUT loses nothing.
package pages
