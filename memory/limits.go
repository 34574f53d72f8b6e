package memory

import "math"

// limits moves the memory limit of the runtime below that of the user, from begin to end.
type limits struct {
	set  func(int64) int64
	user int64 // theirs
	own  int64 // the last limit set
}

func (l *limits) begin(set func(int64) int64) {
	l.set = set
	l.user = set(-1)
	l.own = l.user
}

// noticed takes note of a limit that the program set meanwhile.
func (l *limits) noticed() {
	if now := l.set(-1); now != l.own {
		l.user = now
	}
}

func (l *limits) move(limit int64) {
	l.noticed()
	l.own = min(limit, l.user)
	l.set(l.own)
}

// end does nothing if it was called since begin.
func (l *limits) end() {
	if l.set == nil {
		return
	}
	l.noticed()
	l.set(min(l.user, math.MaxInt64))
	l.set = nil
}
