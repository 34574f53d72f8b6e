// Package weirgrpc puts limiters in front of gRPC servers ([NewServer]) and gRPC clients ([NewClient]).
package weirgrpc
