// Package pages measures the resident memory of a process, and takes back the resident pages of
// files that are mapped into the memory of this process.
//
// For that it uses MADV_PAGEOUT and not MADV_DONTNEED. After the package has read the mappings of a
// file, and before it gives the advice, the file's owner may unmap it, and other memory of
// the process, such as the heap, may get the address. MADV_DONTNEED would erase that memory;
// MADV_PAGEOUT loses nothing.
package pages
