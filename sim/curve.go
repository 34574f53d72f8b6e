package sim

// A Curve is a server on which all jobs run at once, each at the speed that the function gives for
// n jobs: 1 is the speed of a job alone. It is the shortest way to define a server:
//
//	thrashing := sim.Curve(func(n float64) float64 { return min(1, 100/(n*n)) })
//
// With a share w of its workers, the speed is the speed for n/w jobs.
type Curve func(n float64) float64

// Station implements [Server].
func (c Curve) Station() (Station, error) {
	return newStation(unbounded, c), nil
}

// Sharing is processor sharing: jobs beyond the number of Cores slow all jobs down in proportion,
// as threads on a processor do.
type Sharing struct {
	Cores float64 `json:"cores" range:"(0,1e6]"`
}

// Station implements [Server].
func (p Sharing) Station() (Station, error) {
	if err := check("server.sharing", p); err != nil {
		return nil, err
	}
	return Curve(func(n float64) float64 { return min(1, p.Cores/n) }).Station()
}

// USL is the universal scalability law: n jobs share throughput
//
//	X(n) = n / (S (1 + Alpha (n-1) + Beta n (n-1)))
//
// S is the work of one job. Alpha is the contention. Beta is the price of coherence, which makes
// throughput fall past its peak at sqrt((1-Alpha)/Beta).
type USL struct {
	Alpha float64 `json:"alpha" range:"[0,1]"`
	Beta  float64 `json:"beta" range:"[0,1]"`
}

// Station implements [Server].
func (u USL) Station() (Station, error) {
	if err := check("server.usl", u); err != nil {
		return nil, err
	}
	return Curve(func(n float64) float64 {
		n = max(1, n)
		return 1 / (1 + mul(u.Alpha, n-1) + mul(mul(u.Beta, n), n-1))
	}).Station()
}

// Quadratic is a server whose latency is base + k n² at a concurrency of n. The base is the work.
// At n = Double the latency is twice the base, and the throughput is greatest.
type Quadratic struct {
	Double float64 `json:"double" range:"(0,1e6]"`
}

// Station implements [Server].
func (q Quadratic) Station() (Station, error) {
	if err := check("server.quadratic", q); err != nil {
		return nil, err
	}
	return Curve(func(n float64) float64 {
		u := n / q.Double
		return 1 / (1 + mul(u, u))
	}).Station()
}

// Unbounded is a server on which no job slows another: there is always room.
type Unbounded struct{}

// Station implements [Server].
func (Unbounded) Station() (Station, error) {
	return Curve(func(float64) float64 { return 1 }).Station()
}
