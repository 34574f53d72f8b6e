package admit

import (
	"sync"
	"time"

	"github.com/weir-go/weir/internal/reply"
	"github.com/weir-go/weir/internal/window"
)

// slots holds the resources that work takes to start: slots below the limit, the cap and, in a
// group, the group's limit; and the pace. It also holds their measurements: the latency and the
// drain rate. slots knows neither the waiters nor the law.
type slots struct {
	mu         sync.Mutex
	member     *member // nil without a group
	flags      flags
	cumulative bool // the meter accumulates
	limit      int32
	inflight   int64 // in shadow mode the virtual work, see shadow.go
	meter      *window.Meter
	contention *contention // nil until the limit is reached
	lookback   int64
	own        records // for a node without a group
}

// flags are the conditions that keep a request off the fast path of Acquire.
type flags uint16

const (
	closed flags = 1 << iota
	shadow
	waiting
	tenanted
	paced
	capped
	holding // some work in flight was measured
	alone   // a law finds the limit, so that work heavier than the limit may run alone
	pushed  // the downstream refused the last work whose outcome says whether it serves work
	resting // slots of refused work rest
)

func (f *flags) set(bit flags, on bool) {
	*f &^= bit
	if on {
		*f |= bit
	}
}

// fits reports whether work of the given weight has room.
func (s *slots) fits(weight int) bool {
	return s.admits(weight) && (s.member == nil || s.member.mayStart(int64(weight)))
}

// admits reports whether the node's own limit, cap and pace have room for work of the given weight.
func (s *slots) admits(weight int) bool {
	taken := s.inflight + s.resting()
	room := taken+int64(weight) <= int64(s.ceiling())
	return (room || taken == 0 && s.runsAlone(weight)) && s.pace().ready()
}

// ceiling is the greatest weight that may be in flight.
func (s *slots) ceiling() int32 {
	if s.flags&capped != 0 {
		return min(s.limit, s.contention.cold.cap)
	}
	return s.limit
}

// awaitsCap reports whether the cap holds work back before the limit does.
func (s *slots) awaitsCap() bool { return s.ceiling() < s.limit }

// runsAlone reports whether work that is heavier than the limit may run once no other work runs. A
// law that has lowered its limit below the weight of all work would otherwise never see work again.
func (s *slots) runsAlone(weight int) bool {
	return s.flags&alone != 0 && (s.flags&capped == 0 || weight <= int(s.contention.cold.cap))
}

// tooHeavy reports whether work of the given weight has no room even alone. A cap of the node is
// temporary, so it does not count.
func (s *slots) tooHeavy(weight int) bool {
	return weight > int(s.limit) && s.flags&alone == 0 || s.member != nil && s.member.excludes(int64(weight))
}

// take takes slots, and the tokens of the pace.
func (s *slots) take(weight int, now int64) {
	s.pace().owe(weight)
	if s.flags&pushed != 0 {
		p := &s.contention.cold.pushback
		p.next = now + p.after/10
	}
	if s.member == nil {
		s.inflight += int64(weight)
	} else {
		s.member.start(int64(weight))
	}
	if s.meter == nil {
		s.meter = s.newMeter(now)
	}
	s.meter.Start(now, int(s.measuring()))
}

// measuring is the work in flight that was not measured yet.
func (s *slots) measuring() int64 { return s.inflight - s.held() }

// held is the weight of held slots, in shadow mode of the held slots of virtual work.
func (s *slots) held() int64 {
	if s.flags&holding == 0 {
		return 0
	}
	return s.contention.cold.held
}

// records returns the node's records or, in a group, the group's: an idle node in a group then
// keeps no records.
func (s *slots) records() *records {
	if s.member != nil {
		return &s.member.group.records
	}
	return &s.own
}

// newMeter returns a meter of the real work.
func (s *slots) newMeter(now int64) *window.Meter {
	m := window.New(now, time.Duration(s.lookback))
	m.Accumulate(s.cumulative, 0)
	return m
}

// accumulate begins or ends the accumulation of the real work.
func (s *slots) accumulate(on bool) {
	s.cumulative = on
	if m := s.realMeter(); m != nil {
		m.Accumulate(on, int(s.running()))
	}
}

func (s *slots) free(weight int64) {
	if s.member == nil {
		s.inflight -= weight
	} else {
		s.member.move(-weight)
	}
}

// saturated reports whether the limit, the cap, the group or the pace holds work back.
func (s *slots) saturated() bool { return s.saturatedBeside(s.resting()) }

func (s *slots) saturatedBeside(resting int64) bool {
	return s.inflight+resting >= int64(s.limit) || s.flags&waiting != 0
}

// awaitsGroup reports whether the waiters wait only for the group.
func (s *slots) awaitsGroup() bool { return s.member != nil && s.member.position.taken() }

// lacksGroup reports whether only the group has no room for work of the given weight.
func (s *slots) lacksGroup(weight int) bool {
	return s.member != nil && s.admits(weight) &&
		(s.flags&waiting == 0 || s.member.position.taken())
}

// awaitsPace reports whether work has to wait though the limit has room.
func (s *slots) awaitsPace() bool { return s.inflight < int64(s.limit) && !s.pace().ready() }

// pace returns the pacer, nil without a pace.
func (s *slots) pace() *pacer {
	if s.flags&paced == 0 {
		return nil
	}
	return &s.contention.cold.pacer
}

// contended returns the node's contention, allocated on first use.
func (s *slots) contended() *contention {
	if s.contention == nil {
		s.contention = &contention{}
	}
	return s.contention
}

// hear counts a refusal for the law, unless the group, the cap, the pace or the downstream
// refused.
func (s *slots) hear(v reply.Verdict, weight int) {
	if s.meter != nil && v != reply.Overload && v != reply.PushedBack && !s.lacksGroup(weight) && !s.awaitsCap() && !s.awaitsPace() {
		s.meter.Refused()
	}
}

// bookWait books the wait of work that starts. The law sees only a wait for the limit, and not a
// wait for the group, for the cap, or for the pace while the limit has room.
func (s *slots) bookWait(waited int64) {
	switch {
	case s.awaitsGroup():
		m := s.member
		m.wait += float32((float32(waited) - m.wait) / 16)
	case s.awaitsCap(), s.pace().bounds() && s.inflight < int64(s.limit):
	default:
		s.meter.Waited(waited)
	}
}

// longestRetryAfter bounds the time of a refusal. The estimate is for the present state, and would
// be no better for a client that stays away for longer than half a minute.
const longestRetryAfter = 30.0

// backlog is the running and waiting work of a node.
type backlog struct {
	running int // pieces of work, at least 1
	pieces  int // pieces that wait, and their weight
	weight  int64
}

// retryAfter is the time until the current running and waiting work has drained and the pace has
// room for work of the given weight. Before that time only a slot or two come free, and all refused
// clients would try to get these slots: 40 clients of ten slots tried 2,200 times a second and not
// 320 times. Refusals are not counted, because a client that tries often would count as many
// clients.
func (s *slots) retryAfter(weight int, b backlog, now int64) int64 {
	seconds := 0.0
	if rate := s.turnover(b.running, now); rate > 0 {
		seconds = float64(b.pieces+b.running) / rate
	}
	if pace := s.pace().bucket(); pace.Rate > 0 {
		owed := max(-pace.Tokens, float64(weight)) // the work that started may have been heavier
		seconds = max(seconds, (float64(b.weight)+owed)/pace.Rate)
	}
	return int64(min(seconds, longestRetryAfter) * float64(time.Second))
}

// turnover is the number of pieces of work that end in a second: the drain rate or, if unknown, the
// running pieces over the recent latency, by Little's law. It is 0 if neither rate is known.
func (s *slots) turnover(running int, now int64) float64 {
	if rate := s.contention.drainRate(now, s.lookback); rate > 0 || s.meter == nil {
		return rate
	}
	if latency := s.meter.Latest(); latency > 0 {
		return float64(running) / latency.Seconds()
	}
	return 0
}

// running is the weight of the real work in flight.
func (s *slots) running() int64 {
	if s.flags&shadow != 0 {
		return s.contention.cold.virtual.Running
	}
	return s.inflight
}

// realMeter returns the meter of the real work, nil if no work ever ran.
func (s *slots) realMeter() *window.Meter {
	if s.flags&shadow != 0 {
		return s.contention.cold.virtual.Meter
	}
	return s.meter
}

func (s *slots) lookBack(lookback int64) {
	if s.meter != nil {
		s.meter.SetLookback(time.Duration(lookback))
	}
	if s.flags&shadow != 0 {
		s.realMeter().SetLookback(time.Duration(lookback))
	}
}
