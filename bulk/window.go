package bulk

import (
	"sync"

	"github.com/weir-go/weir/memory"
)

// mostAhead is the number of lines that may be read past an unacknowledged line: 3 MB of records.
const mostAhead = 1 << 16

// window holds the lines from the first unacknowledged line on, in order.
type window struct {
	room chan struct{} // has an element for each line

	mu       sync.Mutex
	first    int64 // the number of the first line
	lines    []record
	all      mark          // the mark up to which all lines are acknowledged
	rejected int64         // the number of these lines that were rejected
	text     []byte        // the rejects to be written
	holds    []memory.Hold // the bytes of these rejects
}

type record struct {
	mark
	acknowledged bool
	reject       []byte // the text for the file of rejects, if the line was rejected
	hold         memory.Hold
}

func newWindow(from state) *window {
	return &window{room: make(chan struct{}, mostAhead), first: from.Lines + 1, all: from.mark, rejected: from.Rejected}
}

// add appends a line, for which the caller has put an element into room.
func (w *window) add(m mark) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, record{mark: m})
}

// acknowledge records that a line was written, or rejected if reject is not nil. A rejected line
// keeps its bytes until it is written to the file of rejects.
func (w *window) acknowledge(p *pending, reject []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r := &w.lines[p.Lines-w.first]
	r.acknowledged, r.reject = true, reject
	if reject != nil {
		r.hold, p.hold = p.hold, memory.Hold{}
	}
	n := 0
	for ; n < len(w.lines) && w.lines[n].acknowledged; n++ {
		w.leave(&w.lines[n])
	}
	w.lines = w.lines[n:]
	w.first += int64(n)
}

// leave moves the mark past the first line, and clears the line's record.
func (w *window) leave(r *record) {
	w.all = r.mark
	if r.reject != nil {
		w.rejected++
		w.text = append(w.text, r.reject...)
		w.holds = append(w.holds, r.hold)
	}
	*r = record{}
	<-w.room
}

// collect returns the mark up to which all lines are acknowledged, and the rejects before it that
// are not written yet.
func (w *window) collect() (all mark, rejected int64, text []byte, holds []memory.Hold) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text, holds = w.text, w.holds
	w.text, w.holds = nil, nil
	return w.all, w.rejected, text, holds
}

// end releases the bytes of rejects that are not written. Writes that return later reject no lines.
func (w *window) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i := range w.lines {
		w.lines[i].hold.Release()
	}
	for i := range w.holds {
		w.holds[i].Release()
	}
}

// waiting returns the number of lines that were read and are not acknowledged in order yet.
func (w *window) waiting() int { return len(w.room) }

// offset returns the byte up to which all lines are acknowledged.
func (w *window) offset() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.all.Offset
}
