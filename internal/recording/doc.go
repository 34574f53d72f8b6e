// Package recording has the messages of a dashboard, and files of them: lines of JSON behind a
// line with the version. Package dash sends the messages; weir record keeps them in a file.
package recording
