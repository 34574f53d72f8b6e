// Package isolate calls code of users so that code that panics or ends its goroutine harms
// nothing but itself.
package isolate
