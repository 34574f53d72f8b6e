package window

import (
	"math"
	"time"
)

const (
	epochs   = 4
	finest   = int64(time.Millisecond) // the finest distance between epochs
	never    = math.MaxInt64           // start of an epoch that is not in use
	fraction = 4                       // work joins an epoch younger than this part of the oldest age
)

// ages measures the age of the oldest work in flight, in a fixed space. Work is counted by epochs,
// oldest first; an epoch holds the work that started between the start of the epoch and the start
// of the next epoch. An epoch without work is removed.
//
// The reported age is never less than the true age. The excess is at most [finest] or half the
// greatest age reported since the oldest work started, whichever is more. If the clock goes
// backwards, only the lower bound holds.
type ages struct {
	starts [epochs]int64
	counts [epochs]uint32
	latest uint32 // low bits of the last start
	n      uint32 // epochs in use
}

func noAges() ages { return ages{starts: [epochs]int64{never, never, never, never}} }

// begin counts work that starts. If behind is set, the meter has already seen a later time, and the
// work is counted among earlier work.
func (a *ages) begin(start int64, behind bool) {
	i := int(a.n) - 1
	switch {
	case i < 0:
		a.append(start)
	case behind:
		i = a.find(start)
		a.starts[i] = min(a.starts[i], start)
		a.counts[i]++
		return
	case start-a.starts[i] < finest || !a.due(start):
		a.counts[i]++
	case int(a.n) == epochs && !a.merge(start):
		a.counts[i]++
	default:
		a.append(start)
	}
	a.latest = uint32(start)
}

// due reports whether the newest epoch is too old for work that starts now. Work of one instant
// stays together, or end could not find its epoch. If the low bits of two times agree by chance, an
// epoch opens a little later.
func (a *ages) due(start int64) bool {
	newest, oldest := a.starts[a.n-1], a.starts[0]
	return start-newest >= (start-oldest)/fraction && uint32(start) != a.latest
}

// append opens an epoch.
func (a *ages) append(start int64) {
	a.starts[a.n], a.counts[a.n] = start, 1
	a.n++
}

// merge makes room for an epoch that starts now: it joins the two neighbours that together are the
// shortest. It reports false if these neighbours are the newest epoch and the new epoch. Of five
// epochs the shortest pair is at most half as long as all five, which gives the stated resolution.
func (a *ages) merge(now int64) bool {
	pair, shortest := epochs-1, now-a.starts[epochs-1]
	for i := epochs - 2; i >= 0; i-- {
		end := now
		if i+2 < epochs {
			end = a.starts[i+2]
		}
		if end-a.starts[i] < shortest {
			pair, shortest = i, end-a.starts[i]
		}
	}
	if pair == epochs-1 {
		return false
	}
	a.counts[pair+1] += a.counts[pair]
	a.starts[pair+1] = a.starts[pair]
	a.remove(pair)
	return true
}

// end uncounts work that ended.
func (a *ages) end(start int64) {
	if a.n == 0 {
		return
	}
	i := a.find(start)
	a.counts[i]--
	switch {
	case a.counts[i] > 0:
	case i == int(a.n)-1:
		a.starts[i] = never
		a.n--
	default:
		a.remove(i)
	}
}

// find returns the epoch of work that started at the given time: it counts the later epochs
// that had begun. An early return would be a branch that the processor cannot predict.
func (a *ages) find(start int64) int {
	return begun(a.starts[1], start) + begun(a.starts[2], start) + begun(a.starts[3], start)
}

func begun(epoch, now int64) int {
	if epoch <= now {
		return 1
	}
	return 0
}

// remove takes an epoch out of the list. A call is rare, so the code stays out of its callers.
//
//go:noinline
func (a *ages) remove(i int) {
	copy(a.starts[i:], a.starts[i+1:])
	copy(a.counts[i:], a.counts[i+1:])
	a.starts[epochs-1] = never
	a.n--
}

// oldest returns the age of the oldest work in flight, or 0 if there is none.
func (a *ages) oldest(now int64) time.Duration {
	if a.n == 0 {
		return 0
	}
	return time.Duration(max(0, now-a.starts[0]))
}

// turnBack makes all work in flight count as begun now.
func (a *ages) turnBack(now int64) {
	if a.n == 0 {
		return
	}
	sum := uint32(0)
	for i := range a.n {
		sum += a.counts[i]
	}
	*a = noAges()
	a.append(now)
	a.counts[0] = sum
	a.latest = uint32(now)
}
