package sim

// A WorkerPool is a number of workers that take jobs in order of arrival, one each, from an
// unbounded backlog. When workers are lost, each of them first completes its job.
type WorkerPool struct {
	// Workers is the number of workers.
	Workers int `json:"workers" range:"[1,1e6]"`
}

// Station implements [Server].
func (p WorkerPool) Station() (Station, error) {
	if err := check("server.pool", p); err != nil {
		return nil, err
	}
	return newStation(p.Workers, func(float64) float64 { return 1 }), nil
}
