package virtual

import (
	"math"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// Work is the virtual work of a node, and the real work beside it.
type Work struct {
	Running int64         // weight of the real work in flight
	Held    int64         // the part of Running that was measured and only holds its slots
	Meter   *window.Meter // for Running
	Active  Pieces        // in flight
	Waiting Pieces        // in the queue
	Queued  int64         // weight in the queue

	unloaded unloaded
	credit   float64 // weight that v/R would have ended, less the weight that ended
}

// Credit is at most mostCredit limits, and debt at most mostDebt limits. While all work ends with
// its own real work, the credit is the sum of many deviations from R. Forgiven debt would end work
// that still runs. With a debt of one limit instead of eight, fixed(20) would refuse 3.8 points too
// few of work with a coefficient of variation of 2, at 0.8 of a pool's capacity, instead of 1.8
// points. Unused credit is worth one limit, because a server, too, makes up for a moment without
// work.
const mostCredit, mostDebt = 1, 8

// Adopt makes virtual work of the given weight, which starts now, for work that already runs.
// It calls started for each piece.
func (v *Work) Adopt(weight, now int64, started func()) {
	for left := weight; left > 0; {
		part := min(left, math.MaxInt32)
		left -= part
		v.Active.Push(now, int32(part))
		started()
	}
}

// Start books real work that starts.
func (v *Work) Start(weight int, now int64) {
	v.Running += int64(weight)
	v.Meter.Start(now, int(v.Running-v.Held))
	v.unloaded.start(now)
}

// End books the end of real work.
func (v *Work) End(r *reply.Record, now int64, outcome window.Outcome) {
	v.Running -= int64(r.Weight)
	if r.Has(reply.Measured) {
		v.hold(-int64(r.Weight))
	} else {
		v.Meter.Done(r.Start, now, int(r.Weight), outcome)
	}
}

// Measure books the outcome of real work that still runs.
func (v *Work) Measure(r *reply.Record, now int64, outcome window.Outcome) {
	v.Meter.Done(r.Start, now, int(r.Weight), outcome)
	v.hold(int64(r.Weight))
}

// Reweigh changes the weight of real work.
func (v *Work) Reweigh(r *reply.Record, more int64) {
	v.Running += more
	if r.Has(reply.Measured) {
		v.hold(more)
	}
	v.Meter.Rise(int(v.Running - v.Held))
}

func (v *Work) hold(weight int64) {
	v.Held += weight
	v.Meter.SetBeside(int(v.Held))
}

// Learn counts the end of real work in the latency without load.
func (v *Work) Learn(r *reply.Record, now int64, outcome window.Outcome) {
	v.unloaded.end(r.Start, now, r.Weight, outcome == window.Success || outcome == window.Late)
}

// Own returns the virtual work that started with a piece of real work, nil if none started or it
// has ended.
func (v *Work) Own(r *reply.Record) *Piece {
	if !r.Has(reply.Virtually) {
		return nil
	}
	return v.Active.find(r.Start, r.Weight)
}

// Enqueue puts virtual work into the queue.
func (v *Work) Enqueue(now int64, weight int32) {
	v.Waiting.Push(now, weight)
	v.Queued += int64(weight)
}

// Dequeue takes virtual work out of the queue.
func (v *Work) Dequeue(p *Piece) {
	v.Queued -= int64(p.Weight)
	v.Waiting.Remove(p)
}

// youngest is the least age at which virtual work may end in place of other work: half of the
// latency without load. Without this bound, credit from an overload would end work that has just
// started. The law gradient, which keeps the least latency, would then refuse up to 38 points too
// much at 0.8 of a pool's capacity. With the whole latency as the bound, fixed(55) would refuse 4
// points too much at 1.2 of the capacity.
func (v *Work) youngest() float64 { return 0.5 * v.unloaded.latency }

// InPlace calls end for the virtual work that ends in place of other work of the given weight. The
// oldest work ends first, and a piece may end in part. The credit bounds the weight that ends.
func (v *Work) InPlace(weight int32, now int64, end func(p *Piece, part int32)) {
	able := int32(min(float64(weight), max(0, v.credit)))
	before := now - int64(v.youngest())
	for p := v.Active.Oldest(); p != nil && p.Since <= before && able > 0; p = v.Active.Oldest() {
		part := min(p.Left, able)
		able -= part
		end(p, part)
	}
}

// Charge takes credit for the end of virtual work under a limit.
func (v *Work) Charge(part, limit int32) {
	if v.unloaded.latency > 0 {
		v.credit = max(v.credit-float64(part), -mostDebt*float64(limit))
	}
}

// Flow books time with the given virtual work in flight.
func (v *Work) Flow(elapsed, now, inflight int64, limit int32) {
	v.Meter.Flow(now, int(v.Running-v.Held), false)
	v.unloaded.pass(elapsed, v.Running-v.Held)
	if latency := v.unloaded.latency; latency > 0 {
		v.credit = min(v.credit+float64(elapsed)*float64(inflight)/latency, mostCredit*float64(limit))
	}
}

// ForgetCredit starts a new limit without the credit of the last limit. With that credit, a law
// that lowers the limit would find the server quicker than it is: the law little would refuse 2.7
// points too few at 1.2 of a pool's capacity, instead of 1.0 points.
func (v *Work) ForgetCredit() { v.credit = min(v.credit, 0) }

// Ends returns the time at which the oldest virtual work ends by itself, [math.MaxInt64] if it does
// not. If more virtual than real work is in flight, some virtual work waited while its real work
// ran. That work ends after the latency without load.
func (v *Work) Ends(inflight int64) int64 {
	if p := v.Active.Oldest(); p != nil && inflight > v.Running {
		return p.Since + int64(v.unloaded.latency)
	}
	return math.MaxInt64
}

// TurnBack restarts the measurements of the work at a time before the last one, because the clock
// went back.
func (v *Work) TurnBack(now int64) {
	v.Meter.TurnBack(now)
	v.Active.turnBack(now)
	v.Waiting.turnBack(now)
	v.unloaded.turnBack()
}
