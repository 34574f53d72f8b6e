package law

import (
	"fmt"
	"math"
	"strconv"
	"time"
)

// A Reason explains a decision: a signal, its value and its target. It is a plain value that
// needs no allocation; String renders it for people, as in "p95 131ms above 115ms".
type Reason struct {
	Code   ReasonCode // the result of the comparison
	Signal Signal     // the measured signal
	// Have is the measured value and Want its target, in seconds for a latency, as a share (0
	// to 1) for a rate and as a count for [TooFew] and [Standing].
	Have, Want float64
}

// A ReasonCode is the result of comparing a signal with its target.
type ReasonCode uint8

// Laws give these reasons.
const (
	NoReason   ReasonCode = 0
	Above      ReasonCode = 1 // the signal is above its target
	Below      ReasonCode = 2 // the signal is below its target
	Within     ReasonCode = 3 // the signal is at its target
	Unused     ReasonCode = 4 // there is room, but the limit is not used
	Pinned     ReasonCode = 5 // the limit is fixed
	Configured ReasonCode = 6 // the configuration was changed
	TooFew     ReasonCode = 7 // there are too few samples to judge by
	Probing    ReasonCode = 8 // the limit is lowered to measure without load
	Rebased    ReasonCode = 9 // the latency without load was measured anew
)

// A Signal names a measurement: a quantile of the latency (the value is its rank in tenths of
// a percent, so p95 is 950) or one of the constants.
type Signal uint16

// NoSignal is the zero Signal.
const NoSignal Signal = 0

// A limiter's snapshot shows these quantiles of the latency. Other quantiles are numbers of the
// same kind: 999 is p99.9.
const (
	P50 Signal = 500
	P95 Signal = 950
	P99 Signal = 990
)

// These signals are no quantiles.
const (
	EWMA      Signal = 1001 // exponentially weighted average latency
	QueueWait Signal = 1002 // time spent in the queue
	Errors    Signal = 1003 // share of failures and timeouts
	Timeouts  Signal = 1004 // share of timeouts
	Average   Signal = 1005 // average latency of the window
	Least     Signal = 1006 // smallest latency of the window
	NoLoad    Signal = 1007 // latency without load
	Standing  Signal = 1008 // work waiting in a queue, estimated
	Age       Signal = 1009 // age of the oldest work in flight
	Pushback  Signal = 1010 // share of the work that the downstream refused
	Lateness  Signal = 1011 // share of the work that ended too late
)

// quantile names the quantile q, to a tenth of a percent.
func quantile(q float64) Signal {
	return Signal(min(max(math.Round(q*1000), 1), 999))
}

// Explain returns the full sentence about a decision that took the limit from one value to
// another: "p95 131ms above 115ms: cut 20 to 14".
func Explain(r Reason, from, to int) string {
	switch {
	case to < from:
		return fmt.Sprintf("%v: cut %d to %d", r, from, to)
	case to > from:
		return fmt.Sprintf("%v: raised %d to %d", r, from, to)
	}
	return fmt.Sprintf("%v: held at %d", r, to)
}

// nearness is the share of a target within which a signal is near it.
const nearness = 0.2

// String returns the reason as a phrase, such as "error rate 12% above 5%" or
// "p95 88ms below 90ms, limit not used".
func (r Reason) String() string {
	switch r.Code {
	case Above, Below:
		return r.compare(r.Code.String())
	case Within:
		if math.Abs(r.Have-r.Want) > nearness*r.Want { // the law has a cause beside the signal
			return fmt.Sprintf("%v %s, target %s", r.Signal, r.Signal.format(r.Have), r.Signal.format(r.Want))
		}
		return r.compare("near")
	case Unused:
		if r.Have > r.Want {
			return r.compare("above") + ", limit not used"
		}
		return r.compare("below") + ", limit not used"
	case TooFew:
		return fmt.Sprintf("too few samples (%.0f of %.0f)", r.Have, r.Want)
	case Probing:
		return "measuring without load"
	case Rebased:
		if r.Have == r.Want { // the value from before is not known
			return r.Signal.String() + " " + r.Signal.format(r.Have)
		}
		return r.compare("after")
	case Configured:
		return "configuration changed"
	case NoReason:
		return "no reason given"
	}
	return r.Code.String()
}

func (r Reason) compare(how string) string {
	return fmt.Sprintf("%v %s %s %s", r.Signal, r.Signal.format(r.Have), how, r.Signal.format(r.Want))
}

// MarshalText returns the same phrase as String, for JSON, and nothing for [NoReason].
func (r Reason) MarshalText() ([]byte, error) {
	if r.Code == NoReason {
		return nil, nil
	}
	return []byte(r.String()), nil
}

var codeNames = [...]string{
	NoReason: "none", Above: "above", Below: "below", Within: "within", Unused: "unused", Pinned: "pinned",
	Configured: "configured", TooFew: "too few", Probing: "probing", Rebased: "rebased",
}

// String returns the name of the code in lower case, such as "above".
func (c ReasonCode) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return "code " + strconv.Itoa(int(c))
}

var signalNames = map[Signal]string{
	NoSignal: "signal", EWMA: "EWMA", QueueWait: "queue wait", Errors: "error rate", Timeouts: "timeout rate",
	Average: "average", Least: "least latency", NoLoad: "no-load latency", Standing: "standing queue", Age: "oldest work",
	Pushback: "share refused downstream", Lateness: "share of late work",
}

// String returns the name of the signal, such as "p95", "p99.9" or "queue wait".
func (s Signal) String() string {
	if name, ok := signalNames[s]; ok {
		return name
	}
	if s > 1000 {
		return "signal " + strconv.Itoa(int(s))
	}
	return "p" + strconv.FormatFloat(float64(s)/10, 'g', -1, 64)
}

// format writes a value of the signal in its unit, to three digits.
func (s Signal) format(v float64) string {
	switch s {
	case Errors, Timeouts, Pushback, Lateness:
		return strconv.FormatFloat(100*v, 'g', 3, 64) + "%"
	case Standing:
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	d := time.Duration(math.Round(v * float64(time.Second)))
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}
