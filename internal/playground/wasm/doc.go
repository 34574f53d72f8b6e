//go:build js

// Command wasm gives a page in a browser the simulator: the function weirRun, which takes a request
// of package playground as text and returns {answer} or {error}.
package main
