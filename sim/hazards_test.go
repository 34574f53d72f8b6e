package sim

import "time"

// hazards returns the systems of TestHazards.
func hazards() []hazard {
	return append(append(atOnce(), lasting()...), changing()...)
}

// startsFor puts a start before the phases, with the load of the first phase.
func startsFor(start time.Duration, s Scenario) Scenario {
	s.Phases = append([]Phase{{Name: "start", Length: start, Load: s.Phases[0].Load}}, s.Phases...)
	s.Start = start
	return s
}

// atOnce returns systems whose mean concurrency is far from the actual one, and shared
// servers, where the work of one limiter is only a part of the total.
func atOnce() []hazard {
	batches := func(rate float64, size int) Scenario {
		return startsFor(10*time.Second, Scenario{
			Arrivals: Batches{Rate: rate / float64(size), Size: size}, Work: Exponential{Mean: 20 * ms},
			Server: WorkerPool{Workers: 1000}, SLO: 200 * ms, Phases: []Phase{{Length: time.Minute}},
		})
	}
	fanout := batches(500, 25)
	fanout.Arrivals, fanout.Work, fanout.Server = Batches{Rate: 20, Size: 25, Periodic: true}, Constant{Mean: 10 * ms}, Unbounded{}
	long := startsFor(10*time.Minute, Scenario{
		Arrivals: Batches{Rate: 0.01, Size: 60}, Work: Bimodal{Fast: 1500 * ms, Slow: 15 * time.Second, Share: 0.45},
		Server: WorkerPool{Workers: 500}, SLO: 2 * time.Minute, Phases: []Phase{{Length: time.Hour}},
	})
	rare := startsFor(2*time.Minute, Scenario{
		Arrivals: Batches{Rate: 0.04, Size: 8, Periodic: true}, Work: Exponential{Mean: time.Second},
		Server: WorkerPool{Workers: 16}, SLO: 20 * time.Second, Phases: []Phase{{Length: time.Hour}},
	})
	sparse := Scenario{
		Arrivals: Poisson{Rate: 100}, Work: Exponential{Mean: 50 * ms}, Server: WorkerPool{Workers: 5}, SLO: 400 * ms,
		Phases: []Phase{{Length: 40 * time.Second, Load: 0.002}, {Length: time.Minute, Load: 1.2}}, Start: time.Second,
	}
	replicas := startsFor(20*time.Second, Scenario{
		Arrivals: Poisson{Rate: 1500}, Work: Exponential{Mean: 50 * ms}, Server: WorkerPool{Workers: 50}, SLO: 400 * ms,
		Limiters: 8, Phases: []Phase{{Length: 40 * time.Second}},
	})
	apart := replicas
	for i := range apart.Limiters {
		apart.LimiterSkew = append(apart.LimiterSkew, 0.5*float64(i)/float64(apart.Limiters-1))
	}
	return []hazard{
		{"batches of 8, 80 a second", batches(80, 8), 0, []float64{97}},
		{"batches of 16, 80 a second", batches(80, 16), 0, []float64{97}},
		{"batches of 16, 200 a second", batches(200, 16), 0, []float64{97}},
		{"batches of 32, 400 a second", batches(400, 32), 0, []float64{97}},
		{"fan-out", fanout, 0, []float64{97}},
		{"batches of 60, one in 100 s, each of seconds", long, 0, []float64{91}},
		{"batches of 8, one in 25 s", rare, 0, []float64{97}},
		{"sparse traffic, then 1.2x", sparse, 0, []float64{90}},
		{"eight replicas, 1.5x", replicas, 0, []float64{96}},
		{"eight replicas, 1.5x, clocks spread over 500 ms", apart, 0, []float64{97}},
	}
}

// lasting returns systems whose work takes seconds, or whose mean takes long to converge,
// and a server whose limit has to grow a lot.
func lasting() []hazard {
	system := func(latency time.Duration, rate float64, s Scenario) Scenario {
		s.Arrivals, s.Phases = Poisson{Rate: rate}, []Phase{{Length: 20 * time.Minute}}
		return startsFor(30*latency, s)
	}
	cores := func(load float64) Scenario {
		return system(4400*ms, load*16/4.4, Scenario{
			Work: Lognormal{Mean: 4400 * ms, CV: 0.74}, Server: Sharing{Cores: 16},
			SLO: 30 * time.Second,
		})
	}
	slots := func(load float64) Scenario {
		return system(10*time.Second, load*16/10, Scenario{
			Work: Exponential{Mean: 10 * time.Second}, Server: WorkerPool{Workers: 16},
			SLO: time.Minute,
		})
	}
	tokens := func(rate float64) Scenario { // half of the mean rate, which is 16/4.8 at a load of 1
		s := system(4800*ms, 1, Scenario{Work: languageModel{}, Server: Sharing{Cores: 16}, SLO: time.Minute})
		s.Arrivals = Bursts{Rate: rate, Factor: 6, Calm: 40 * time.Second, Burst: 10 * time.Second}
		return s
	}
	large := func(load float64) Scenario {
		s := system(time.Second, load*5000, Scenario{
			Work: Exponential{Mean: time.Second}, Server: WorkerPool{Workers: 5000},
			SLO: 4 * time.Second,
		})
		s.Phases[1].Length = 20 * time.Second // it has many requests
		return s
	}
	few := func(rate, load float64) Scenario {
		work := time.Duration(4 / rate * 1e9)
		return system(work, load*rate, Scenario{
			Work: Exponential{Mean: work}, Server: WorkerPool{Workers: 4}, SLO: 6 * work,
		})
	}
	exports := startsFor(10*time.Second, Scenario{
		Arrivals: Poisson{Rate: 200}, Work: Bimodal{Fast: 5 * ms, Slow: 5 * time.Second, Share: 0.01},
		Server: WorkerPool{Workers: 50}, SLO: 6 * time.Second, Phases: []Phase{{Length: 2 * time.Minute}},
	})
	reports := func(long time.Duration) Scenario {
		return startsFor(20*time.Second, Scenario{
			Arrivals: Poisson{Rate: 0.8 * 10 / (0.03 * long.Seconds())}, Work: Bimodal{Fast: 2 * ms, Slow: long, Share: 0.03},
			Server: WorkerPool{Workers: 10}, SLO: 3 * long, Phases: []Phase{{Length: time.Minute}},
		})
	}
	pareto := system(time.Second, 1.5*20, Scenario{
		Work: Pareto{Mean: time.Second, Alpha: 1.5}, Server: Sharing{Cores: 20},
		SLO: 8 * time.Second,
	})
	return []hazard{
		{"4.4 s on 16 cores, 0.7x", cores(0.7), 0, []float64{97}},
		{"4.4 s on 16 cores, 1.5x", cores(1.5), 0, []float64{94}},
		{"10 s in 16 slots, 0.7x", slots(0.7), 0, []float64{97}},
		{"10 s in 16 slots, 1.5x", slots(1.5), 0, []float64{94}},
		{"a language model, 0.7x", tokens(1.167), 0, []float64{87}},
		{"a language model, 1.5x", tokens(2.5), 40, []float64{97}},
		{"a language model, 3x", tokens(5), 40, []float64{93}},
		{"a knee of 5000, 0.9x", large(0.9), 0, []float64{92}},
		{"a knee of 5000, 1.5x", large(1.5), 6000, []float64{78}},
		{"one in a hundred takes 5 s and not 5 ms, 0.2x", exports, 0, []float64{99}},
		{"three in a hundred take 2 s and not 2 ms, 0.8x", reports(2 * time.Second), 20, []float64{80}},
		{"three in a hundred take 5 s and not 2 ms, 0.8x", reports(5 * time.Second), 20, []float64{75}},
		{"Pareto of 1.5 on 20 cores, 1.5x", pareto, 40, []float64{86}},
		{"1 completion a second, 0.8x", few(1, 0.8), 0, []float64{95}},
		{"1 completion a second, 1.5x", few(1, 1.5), 10, []float64{90}},
		{"2.5 completions a second, 0.8x", few(2.5, 0.8), 0, []float64{93}},
		{"2.5 completions a second, 1.5x", few(2.5, 1.5), 10, []float64{90}},
	}
}

// languageModel is work by the tokens read and written: 1500 of 0.2 ms and 300 of 15 ms on
// average.
type languageModel struct{}

// Draw implements [Work].
func (languageModel) Draw(r *Rand) time.Duration {
	read, written := Lognormal{Mean: 300 * ms, CV: 1.5}, Lognormal{Mean: 4500 * ms, CV: 1.2}
	return read.Draw(r) + written.Draw(r)
}

// changing returns systems with servers that degrade and recover, and clients that report
// late work as a timeout.
func changing() []hazard {
	system := func(load float64, fault Phase) Scenario {
		fault.Length = 30 * time.Second
		return startsFor(10*time.Second, Scenario{
			Arrivals: Poisson{Rate: load * 500}, Work: Exponential{Mean: 40 * ms},
			Server: WorkerPool{Workers: 20}, SLO: 600 * ms,
			Phases: []Phase{{Length: 20 * time.Second}, fault, {Length: 30 * time.Second}},
		})
	}
	late := startsFor(15*time.Second, Scenario{
		Arrivals: Poisson{Rate: 60}, Work: Exponential{Mean: 250 * ms}, Server: WorkerPool{Workers: 10}, SLO: 1250 * ms,
		Clients: []Client{{TimeoutAtSLO: true}}, Phases: []Phase{{Length: 2 * time.Minute}},
	})
	stopped := startsFor(20*time.Second, Scenario{ // by ten limiters that do not reach their limits
		Arrivals: Poisson{Rate: 500}, Work: Exponential{Mean: 12 * ms}, Server: USL{Alpha: 0.02, Beta: 0.005}, SLO: 65 * ms,
		Clients: []Client{{Cancel: true}}, Limiters: 10,
		Phases: []Phase{{Length: 20 * time.Second, Load: 0.8}, {Length: 20 * time.Second, Load: 2, Speed: 0.5}, {Length: 20 * time.Second, Load: 0.8}},
	})
	cold := startsFor(10*time.Second, Scenario{
		Arrivals: Poisson{Rate: 1000}, Work: Exponential{Mean: 200 * time.Microsecond}, Server: WorkerPool{Workers: 1000}, SLO: time.Second,
		Phases: []Phase{{Length: 10 * time.Second}, {Length: 40 * time.Second}, {Length: 20 * time.Second}},
	})
	cold.Phases[2].Work, cold.Phases[3].Work = Exponential{Mean: 20 * ms}, Exponential{Mean: 20 * ms}
	pauses := startsFor(10*time.Second, Scenario{
		Arrivals: Poisson{Rate: 1000}, Work: Exponential{Mean: 20 * ms}, Server: WorkerPool{Workers: 20}, SLO: 100 * ms,
		Clients: []Client{{Cancel: true}}, Phases: []Phase{
			{Length: 20 * time.Second, Load: 0.8},
			{Length: 40 * time.Second, Load: 0.8, Pause: Pause{Every: 2 * time.Second, For: 150 * ms}},
			{Length: 20 * time.Second, Load: 1.5, Pause: Pause{Every: 2 * time.Second, For: 150 * ms}},
		},
	})
	delay, slow, hangs := Phase{Delay: 150 * ms}, Phase{Speed: 0.2}, Phase{Speed: 0.0005}
	return []hazard{
		{"late answers told as timeouts, 1.5x", late, 0, []float64{91}},
		{"ten limiters stop a server whose callers leave", stopped, 1, []float64{99, 85, 91}},
		{"a server that pauses, callers that leave", pauses, 30, []float64{97, 86, 89}},
		{"a cache is lost, and work takes a hundred times as long", cold, 0, []float64{97, 80, 97}},
		{"a delay is added, 0.8x", system(0.8, delay), 0, []float64{97, 90, 97}},
		{"a delay is added, 1.3x", system(1.3, delay), 80, []float64{97, 97, 97}},
		{"speed comes back, 0.8x", system(0.8, slow), 40, []float64{97, 87, 97}},
		{"speed comes back, 1.3x", system(1.3, slow), 40, []float64{97, 82, 97}},
		{"hangs, 0.8x", system(0.8, hangs), 0, []float64{97, 0, 97}},
		{"killed and back, 0.8x", system(0.8, Phase{Down: true}), 0, []float64{97, 0, 97}},
		{"errors at once, 0.8x", system(0.8, Phase{Errors: 1}), 0, []float64{97, 0, 97}},
	}
}
