// Package playground runs simulations for a page: a request and its answer are JSON. Its command in
// the folder wasm is the simulator of the documentation site, in the browser.
package playground
