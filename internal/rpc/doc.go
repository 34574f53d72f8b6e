// Package rpc is the code that weirgrpc and weirconnect share: the admitter of a method, the
// outcome of a status code, the status of a refusal, and when a message of a stream holds a
// slot. It uses neither of their libraries.
package rpc
