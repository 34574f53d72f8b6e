package rpc

import "github.com/weir-go/weir"

// A Code is a status code of gRPC. Connect has the same numbers.
type Code uint32

// The codes, as https://grpc.io/docs/guides/status-codes lists them.
const (
	OK Code = iota
	Canceled
	Unknown
	InvalidArgument
	DeadlineExceeded
	NotFound
	AlreadyExists
	PermissionDenied
	ResourceExhausted
	FailedPrecondition
	Aborted
	OutOfRange
	Unimplemented
	Internal
	Unavailable
	DataLoss
	Unauthenticated
)

// outcomes is what a code teaches the limiter of a server, and that of a client. They differ where
// a server tells one caller to ask for less: to the server's limiter that is no failure of its own,
// and to the client's it is the one thing to hear.
var outcomes = [...]struct{ server, client weir.Outcome }{
	OK:                 {weir.Success, weir.Success},
	Canceled:           {weir.Ignore, weir.Ignore},
	Unknown:            {weir.Failure, weir.Failure}, // what an error without a code becomes
	InvalidArgument:    {weir.Ignore, weir.Ignore},
	DeadlineExceeded:   {weir.Timeout, weir.Timeout},
	NotFound:           {weir.Ignore, weir.Ignore},
	AlreadyExists:      {weir.Ignore, weir.Ignore},
	PermissionDenied:   {weir.Ignore, weir.Ignore},
	ResourceExhausted:  {weir.Ignore, weir.Overloaded},
	FailedPrecondition: {weir.Ignore, weir.Ignore},
	Aborted:            {weir.Ignore, weir.Ignore},
	OutOfRange:         {weir.Ignore, weir.Ignore},
	Unimplemented:      {weir.Ignore, weir.Ignore},
	Internal:           {weir.Failure, weir.Failure},
	Unavailable:        {weir.Failure, weir.Failure},
	DataLoss:           {weir.Failure, weir.Failure},
	Unauthenticated:    {weir.Ignore, weir.Ignore},
}

// ServerOutcome returns what a call that a server answered with the code teaches its limiter. A
// code that gRPC does not define counts as Unknown, as gRPC itself has it.
func (c Code) ServerOutcome() weir.Outcome { return outcomes[c.defined()].server }

// ClientOutcome returns what a call that ended with the code teaches the limiter of its client. A
// server that is unavailable and says when to come back has too much.
func (c Code) ClientOutcome(comeBack bool) weir.Outcome {
	if c == Unavailable && comeBack {
		return weir.Overloaded
	}
	return outcomes[c.defined()].client
}

func (c Code) defined() Code {
	if int(c) >= len(outcomes) {
		return Unknown
	}
	return c
}
