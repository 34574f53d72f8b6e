package virtual

import "github.com/weir-go/weir/internal/portable"

// unloaded estimates how long work takes on a server that has room for it, from one cohort of work
// after another. A cohort is work that started together. It is judged when all its work has ended,
// because quick work is over-represented in work that ends together.
//
// A cohort that took longer without more work in flight shows that the work became slower. A cohort
// that took longer with more work in flight shows nothing, because the load may be the cause.
type unloaded struct {
	latency  float64 // the estimate in nanoseconds, 0 if unknown
	inflight float64 // weight in flight during that measurement
	cohorts  int     // judged so far, up to moreCohorts

	// The current cohort.
	from, to       int64 // when its first and its last piece started
	started, ended int   // pieces
	others         int   // pieces of any cohort that ended since this one was full
	weight         float64
	took           float64 // latency times weight
	area, elapsed  float64 // weight in flight times time, and time
}

const (
	// firstCohort is the size of the first cohort. It is small because the load may be rising. Each
	// of the next moreCohorts cohorts is twice as large as the last. With cohorts of 32 only,
	// fixed(20) would refuse 3.7 points too few of work with a coefficient of variation of 2, at
	// 0.8 of a pool's capacity. With cohorts of up to 256 it refuses 1.8 points too few.
	firstCohort, moreCohorts = 32, 3
	// cohortWeight is the weight of a new cohort in the estimate. The first moreCohorts cohorts
	// have twice that weight.
	cohortWeight = 0.25
	// noMore is the factor by which the work in flight may grow without counting as more load. The
	// work in flight varies that much by itself, and most if work takes long by chance. With a
	// factor of 1.1 the 1.8 points would be 9.2 points.
	noMore = 1.5
	// hopeless bounds the wait for the last pieces of a cohort. Once the pieces of this many
	// cohorts have ended, the pieces that still run count with their age.
	hopeless = 8
)

func (u *unloaded) size() int { return firstCohort << u.cohorts }

// pass books time with the given work in flight.
func (u *unloaded) pass(d, running int64) {
	if u.started > 0 {
		u.area += float64(float64(d) * float64(running))
		u.elapsed += float64(d)
	}
}

// start books work that starts. Work that starts at the same instant is in the same cohort.
func (u *unloaded) start(now int64) {
	switch {
	case u.started == 0:
		u.from = now
	case u.started >= u.size() && now > u.to:
		return
	}
	u.to = now
	u.started++
}

// end books the end of work; only successful work shows how long it takes.
func (u *unloaded) end(start, now int64, weight int32, succeeded bool) {
	if u.started > 0 && start >= u.from && start <= u.to {
		if succeeded {
			u.ended++
			u.add(now-start, float64(weight))
		} else {
			u.started--
		}
	}
	if u.started < u.size() {
		return
	}
	u.others++
	if u.ended < u.started && u.others < hopeless*u.size() {
		return
	}
	u.add(now-u.to, float64(u.started-u.ended))
	if u.elapsed > 0 {
		u.judge(u.took/u.weight, u.area/u.elapsed)
	}
	*u = unloaded{latency: u.latency, inflight: u.inflight, cohorts: min(u.cohorts+1, moreCohorts)}
}

func (u *unloaded) add(latency int64, weight float64) {
	u.weight += weight
	u.took += float64(float64(latency) * weight)
}

// judge learns from a cohort with the given latency and weight in flight.
func (u *unloaded) judge(latency, inflight float64) {
	weight := cohortWeight
	if u.cohorts < moreCohorts {
		weight *= 2
	}
	switch {
	case u.latency == 0:
		u.latency, u.inflight = latency, inflight
	case latency <= u.latency:
		u.latency = portable.Toward(u.latency, latency, weight)
		u.inflight = portable.Toward(u.inflight, inflight, weight)
	case inflight <= noMore*u.inflight:
		u.latency = portable.Toward(u.latency, latency, weight)
		u.inflight = min(u.inflight, portable.Toward(u.inflight, inflight, weight))
	}
}

// turnBack drops the current cohort.
func (u *unloaded) turnBack() {
	*u = unloaded{latency: u.latency, inflight: u.inflight, cohorts: u.cohorts}
}
