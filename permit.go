package weir

import (
	"reflect"
	"runtime"
	"time"

	"github.com/weir-go/weir/internal/admit"
	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// A Permit is one piece of admitted work. Give it back exactly once, with Done,
// DoneWith or Release; giving it back again does nothing, also from several
// goroutines at once. A Permit must not be copied (go vet reports it): copies
// would give back each other's slots. The zero Permit is one that is back.
type Permit struct {
	_       noCopy
	limiter *Limiter
	ticket  reply.Ticket
	done    func(Outcome) // tells the breaker, if there is one
}

// noCopy makes go vet report copies.
type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Done gives the permit back and tells the limiter how the work ended: err is
// classified by [Config].Classify, and the latency of a success is measured. Note
// that `defer permit.Done(err)` reads err too early; see [Permit.DoneWith]. For
// work that its caller cancelled with a cause, pass ctx.Err(): unlike
// [Limiter.Do], Done cannot tell the cause from a failure.
func (p *Permit) Done(err error) {
	if p.limiter == nil {
		return
	}
	classify := p.limiter.face.Load().classify
	if classify == nil {
		p.Finish(Classify(err))
		return
	}
	outcome := Failure // should classify panic
	defer func() { p.Finish(outcome) }()
	outcome = classify(err)
}

// DoneWith is Done for use with defer: it reads *err, which may be nil, when it
// runs. Work that panics counts as a failure, and the panic goes on; work that ends its
// goroutine (runtime.Goexit) counts as a failure too. That takes a defer of DoneWith itself,
// not of a function that calls it. To tell Goexit from success takes a look at the stack,
// which costs about 160 ns more than Done; [Limiter.Do] needs none.
//
//	defer permit.DoneWith(&err)
func (p *Permit) DoneWith(err *error) {
	if r := recover(); r != nil {
		p.Finish(Failure)
		panic(r)
	}
	switch {
	case err != nil && *err != nil:
		p.Done(*err)
	case exits():
		p.Finish(Failure)
	default:
		p.Done(nil)
	}
}

var goexit = reflect.ValueOf(runtime.Goexit).Pointer()

// exits reports whether runtime.Goexit runs the caller of exits as a deferred call.
func exits() bool {
	var pc [1]uintptr
	const callersCaller = 3 // of exits; 0 is runtime.Callers
	if runtime.Callers(callersCaller, pc[:]) == 0 {
		return false
	}
	f := runtime.FuncForPC(pc[0] - 1) // pc is where it returns to
	return f != nil && f.Entry() == goexit
}

// Finish is Done for work whose outcome is known without an error. An outcome
// out of range counts as Ignore.
func (p *Permit) Finish(o Outcome) {
	if p.limiter == nil {
		return
	}
	o = min(o, Ignore)
	if p.done != nil {
		p.finishBehind(o)
		return
	}
	var fx admit.Effects
	p.limiter.node.Done(&p.ticket, now(), window.Outcome(o), &fx)
	p.limiter.after(&fx, nil)
}

// finishBehind tells the breaker too, even should a hook panic or a law end the goroutine. No law is
// asked for a permit that is back already.
func (p *Permit) finishBehind(o Outcome) {
	back := true
	defer func() {
		if back {
			p.done(o)
		}
	}()
	var fx admit.Effects
	back = p.limiter.node.Done(&p.ticket, now(), window.Outcome(o), &fx)
	p.limiter.after(&fx, nil)
}

// Release gives the permit back and teaches the limiter nothing.
func (p *Permit) Release() { p.Finish(Ignore) }

// Waited returns how long the work queued before it was admitted.
func (p *Permit) Waited() time.Duration { return time.Duration(p.ticket.Waited()) }
