package listen

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"
)

const (
	testRate  = 240
	testGrace = 30 * time.Second
)

// paced is a pace without a client; cuts receives the time of the cut.
func paced() (p *pace, cuts chan time.Time) {
	l := new(Listener)
	l.live.Store(&live{bodyRate: testRate, bodyTimeout: testGrace})
	cuts = make(chan time.Time, 10)
	return &pace{conn: &conn{listener: l}, cut: func() { cuts <- time.Now() }}, cuts
}

// wait is a read of the body of the given duration. The connection receives perSecond bytes
// each second; the last second brings the body's bytes.
func (p *pace) wait(seconds int, perSecond uint64, body int) {
	p.begin()
	for range seconds {
		time.Sleep(time.Second)
		p.conn.received.Add(perSecond)
	}
	p.end(body)
}

func TestPace(t *testing.T) {
	for _, test := range []struct {
		name       string
		client     func(p *pace)
		from, till time.Duration // when it is cut; 0 for never
	}{
		{"nothing", func(p *pace) { p.wait(100, 0, 0) }, 30 * time.Second, 34 * time.Second},
		{"a byte a second", func(p *pace) {
			for range 100 {
				p.wait(1, 1, 1)
			}
		}, 30 * time.Second, 35 * time.Second},
		{"half the rate", func(p *pace) {
			for range 100 {
				p.wait(1, testRate/2, testRate/2)
			}
		}, 60 * time.Second, 65 * time.Second},
		{"the rate", func(p *pace) {
			for range 3600 {
				p.wait(1, testRate, testRate)
			}
		}, 0, 0},
		{"the rate, a frame at a time", func(p *pace) {
			for range 100 {
				p.wait(68, testRate, 68*testRate)
			}
		}, 0, 0},
		{"the body alone is told", func(p *pace) { // by the connection's buffer
			for range 100 {
				p.wait(20, 0, 20*testRate)
			}
		}, 0, 0},
		{"a pause within the grace", func(p *pace) { p.wait(1, 1000, 1000); p.wait(29, 1<<20, 1<<20); p.wait(29, 0, 1) }, 0, 0},
		{"a fast beginning buys nothing", func(p *pace) { p.wait(1, 1<<30, 1<<30); p.wait(100, 1, 1) }, 30 * time.Second, 36 * time.Second},
		{"the proxy does not read", func(p *pace) {
			for range 100 {
				p.wait(1, 1000, 1000)
				time.Sleep(time.Minute)
			}
		}, 0, 0},
		{"other bodies close its window", func(p *pace) {
			p.conn.unread.Store(4)
			p.wait(100, 0, 0)
		}, 0, 0},
		{"its response has begun", func(p *pace) { p.wait(20, 0, 0); p.close(); p.wait(100, 0, 0) }, 0, 0},
		{"its response begins", func(p *pace) { p.begin(); time.Sleep(20 * time.Second); p.close(); time.Sleep(time.Hour); p.end(1) }, 0, 0},
		{"no time limit", func(p *pace) {
			p.conn.listener.live.Store(&live{bodyRate: testRate})
			p.wait(1000, 0, 0)
		}, 0, 0},
		{"no rate", func(p *pace) {
			p.conn.listener.live.Store(&live{bodyTimeout: testGrace})
			p.wait(1000, 0, 0)
		}, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, cuts := paced()
				begun := time.Now()
				test.client(p)
				p.close()
				time.Sleep(time.Hour)
				slow := p.conn.listener.Counts().Slow
				if int(slow) != len(cuts) || p.isSlow() != (slow > 0) {
					t.Errorf("cut %d times, %d counted, slow %v", len(cuts), slow, p.isSlow())
				}
				if want := min(uint64(test.till), 1); slow != want {
					t.Fatalf("cut %d times, want %d", slow, want)
				}
				if slow > 0 {
					if after := (<-cuts).Sub(begun); after < test.from || after > test.till {
						t.Errorf("cut after %v, want %v to %v", after, test.from, test.till)
					}
				}
				if n := p.conn.awaited.Load(); n != 0 {
					t.Errorf("%d bodies are still waited for", n)
				}
			})
		})
	}
}

// Ten bodies on a connection that receives the rate of one: nine are slow, however fast the
// tenth is.
func TestPaceIsOfEachBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fast, cuts := paced()
		for range 9 {
			slow := &pace{conn: fast.conn, cut: fast.cut}
			slow.begin()
			defer slow.close()
		}
		for range 300 {
			fast.wait(1, testRate, testRate)
		}
		if len(cuts) != 9 || fast.isSlow() {
			t.Errorf("cut %d, the fast one: %v", len(cuts), fast.isSlow())
		}
	})
}

// FuzzArrears compares with the definition: the arrears are the maximum, over all earlier
// times, of the time since then minus the time that the bytes since then take.
func FuzzArrears(f *testing.F) {
	f.Add(uint64(1), int64(240), uint16(100))
	f.Add(uint64(2), int64(1), uint16(1000))
	f.Add(uint64(3), int64(1<<30), uint16(1000))
	f.Fuzz(func(t *testing.T, seed uint64, rate int64, steps uint16) {
		rate = 1 + (rate&(1<<62-1))%(1<<30)
		random := rand.New(rand.NewPCG(seed, 0))
		var a arrears
		var lead, most float64 // of the bytes before the time, in seconds; its maximum so far
		for n := range int(steps) {
			waited := time.Duration(random.Int64N(int64(time.Minute)))
			bytes := random.Int64N(2*rate*int64(waited/time.Millisecond)/1000 + 2)
			a = a.after(waited, bytes, rate)
			lead += float64(bytes)/float64(rate) - waited.Seconds()
			most = max(most, lead)
			tolerance := float64(n+1) * 2e-9 * float64(time.Second)
			if want := (most - lead) * float64(time.Second); float64(a) < want-tolerance-want*1e-6 || float64(a) > want+tolerance+want*1e-6 {
				t.Fatalf("step %d: %v behind, want %v", n, time.Duration(a), time.Duration(want))
			}
		}
		for _, bytes := range []int64{-1, 0, 1<<63 - 1} {
			if again := a.after(0, bytes, rate); again < 0 || again > a {
				t.Errorf("%d bytes took it from %v to %v", bytes, time.Duration(a), time.Duration(again))
			}
		}
	})
}
