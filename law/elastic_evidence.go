package law

// evidence is what a limiter heard of others on its server: the log of the odds that
// there are some.
type evidence struct {
	odds    float64
	noise   float64 // variance of ln latency from window to window, smoothed
	last    float64 // ln latency of the last window
	before  float64 // ln latency before the tick
	during  float64 // and after it
	decided bool
}
