package bulk

import (
	"fmt"
	"io"
	"io/fs"
	"math"
	"sync"
	"time"
)

// A Snapshot is the progress of an import.
type Snapshot struct {
	Lines     int64         // acknowledged lines, including rejected ones and earlier runs
	Rejected  int64         // rejected lines, a part of Lines
	Resumed   int64         // lines of the journal, which this run did not read, a part of Lines
	Offset    int64         // byte of the source up to which all lines are acknowledged
	Size      int64         // of the source in bytes, 0 if unknown
	InFlight  int           // lines read and not counted in Offset yet
	Rate      float64       // lines per second, over the last 10 s
	ByteRate  float64       // bytes per second, over the last 10 s
	Load      float64       // the larger load of throttle and governor: 0 idle, 1 at the limit
	Waited    time.Duration // time for which reading has waited for memory, up to now
	Throttled time.Duration // sum of the times for which workers have waited for the throttle, up to now
	Elapsed   time.Duration // since this run began
	Left      time.Duration // estimate of the time to the end, from ByteRate; 0 if not known
}

// String describes the progress in one line.
func (s Snapshot) String() string {
	text := fmt.Sprintf("%d lines, %.1f MB, %.0f lines/s, %.1f MB/s, %d rejected, load %.2f, waited %v for memory and %v for the throttle",
		s.Lines, float64(s.Offset)/1e6, s.Rate, s.ByteRate/1e6, s.Rejected, s.Load,
		s.Waited.Round(time.Millisecond), s.Throttled.Round(time.Millisecond))
	if s.Left > 0 {
		text += fmt.Sprintf(", %v left", s.Left.Round(time.Second))
	}
	return text
}

type meter struct {
	size    int64
	resumed int64
	began   time.Time

	mu   sync.Mutex
	past []moment // the moments of the last 10 s, and one before them
}

type moment struct {
	at            time.Time
	lines, offset int64
}

const rateOver = 10 * time.Second

func (m *meter) begin(from state) {
	m.began, m.resumed = time.Now(), from.Lines
	m.past = []moment{{m.began, from.Lines, from.Offset}}
}

// rates returns the rates over the last 10 s.
func (m *meter) rates(now moment) (lines, bytes float64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for len(m.past) > 1 && now.at.Sub(m.past[1].at) >= rateOver {
		m.past = m.past[1:]
	}
	before := m.past[0]
	m.past = append(m.past, now)
	seconds := now.at.Sub(before.at).Seconds()
	if seconds <= 0 {
		return 0, 0
	}
	return float64(now.lines-before.lines) / seconds, float64(now.offset-before.offset) / seconds
}

// progress is called by one goroutine at a time.
func (r *run) progress() Snapshot {
	all := r.window.offset()
	now := moment{time.Now(), r.lines.Load(), all}
	lines, bytes := r.meter.rates(now)
	p := Snapshot{
		Lines: now.lines, Rejected: r.rejected.Load(), Resumed: r.meter.resumed, Offset: all, Size: r.meter.size,
		InFlight: r.window.waiting(), Rate: lines, ByteRate: bytes, Load: r.load(),
		Waited: r.waited.Total(), Throttled: r.throttled.Total(), Elapsed: now.at.Sub(r.meter.began),
	}
	if left := float64(p.Size-all) / bytes * float64(time.Second); left > 0 && left < math.MaxInt64 {
		p.Left = time.Duration(left)
	}
	return p
}

// sizeOf returns the size of a source, 0 if it is unknown.
func sizeOf(source io.Reader, told int64) int64 {
	if info := regular(source); told == 0 && info != nil {
		return info.Size()
	}
	return told
}

// regular describes a source that is a regular file. It returns nil for any other source.
func regular(source io.Reader) fs.FileInfo {
	file, ok := source.(interface{ Stat() (fs.FileInfo, error) })
	if !ok {
		return nil
	}
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return info
}
