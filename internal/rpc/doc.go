// Package rpc is what weirgrpc and weirconnect share: which admitter a method has, what a status
// code teaches a limiter, which status a refusal becomes, and when a message of a stream holds a
// slot. It knows neither of their libraries.
package rpc
