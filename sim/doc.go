// Package sim runs a limiter against a simulated service, in virtual time: a minute of
// traffic takes milliseconds, and the same seed gives the same result.
//
// It shows, before production does, which control law to use and with which settings. The
// limiter is not a model: the admission core, the measurements and the laws are the same
// code that runs live. Only their environment is simulated: clients, a server, faults.
//
//	result, err := sim.Run(scenario, law.Band{Target: 200 * time.Millisecond}, seed)
//	oracle, err := sim.Sweep(scenario, seed)
//	score, err := oracle.Score(result) // goodput as a percentage of the best there is
//
// # The simulation
//
// A [Scenario] is data: the arrivals of requests ([Arrivals]), their work ([Work]), the
// server ([Server]), the clients ([Client]) and the phases of load and faults ([Phase]).
// Arrivals are open-loop: they do not slow down when the server does. The three interfaces
// are small, so that they are easy to implement.
//
// An attempt asks a limiter, perhaps waits in its queue, runs on the server, and is answered. It is
// good if the answer is no error and comes within the client's SLO, which counts from the attempt.
// A client that was refused, got an error or gave up at its SLO may retry. The server continues the
// work of a client that gave up, unless the client cancels the work. The work keeps its slot until
// it ends, as in production.
//
// # Scenarios as data
//
// A scenario may be a JSON file; its fields are the fields of [Scenario], in lower case, and
// scenario.schema.json, beside this package, describes them to an editor. A server, work and
// arrivals are an object with one key, which names the kind. Durations are text, and absent
// fields have their defaults:
//
//	{
//		"name": "shop",
//		"arrivals": {"poisson": {"rate": 850}},
//		"work": {"lognormal": {"mean": "50ms", "cv": 2}},
//		"server": {"pool": {"workers": 50}},
//		"slo": "400ms",
//		"clients": [{"retry": {"times": 3, "backoff": "100ms"}}],
//		"limiter": {"law": "band(target=200ms)", "initial": 60},
//		"phases": [
//			{"length": "30s"},
//			{"name": "slow", "length": "30s", "speed": 0.3},
//			{"length": "30s"}
//		]
//	}
//
// [ParseScenario] reads such a file and refuses unknown fields. The command "weir sim" has built-in
// scenarios, and draws systems that no law was tuned on.
//
// # Recorded requests
//
// [TraceReader] reads a log with any columns into a [Trace], which replaces arrivals and work in a
// scenario. [ParseSystem] reads the rest of the scenario, and [Trace.Faster] and [EffectiveWorkers]
// scale the trace to the server: t.Faster(0.7*capacity/t.Offered()) has a load of 0.7.
//
// # Time inside a server
//
// Servers differ in the speed of each of n jobs: full speed in a FIFO pool, a curve of n on
// a shared server. In all of them the running jobs proceed at one rate r(t), so with the
// clock
//
//	V(t) = ∫ r(s) ds
//
// a job that starts at V with work w ends when the clock shows V+w, however the rate changes
// in between. A heap ordered by V+w therefore never has to be rebuilt: a fault, a pause or a
// new job changes only r.
//
// # Foreign limiters
//
// [RunForeign] runs any other limiter on the same requests, servers and faults, and the same oracle
// scores its result. Equal decisions give equal results, so every difference is due to the limiter.
// The folder bench/peers runs the limiters of other libraries this way.
//
// # The oracle
//
// For each phase, the oracle is the best of up to 40 constant limits, found with the same seed and
// so the same requests: it has knowledge that no law can have. With several limiters, the limit is
// the total of all limiters, split between them by their needs. [Sweep] finds the oracle, and
// [Score] defines every figure. A limiter with a queue may do better than the oracle, which has no
// queue, so goodput is capped at 100.
//
// # Determinism
//
// All randomness comes from PCG generators, one for each purpose, so the nth request is the same
// whatever the law does. Logarithms and powers do not come from package math, which differs between
// machines. Products are rounded before they are added: a processor that fuses the two operations
// would give another result in the last bit and, after a minute of feedback, in the first bit.
//
// # Sources
//
//   - L. Kleinrock: Queueing Systems, volume 2, 1976: the clock above, for
//     processor sharing.
//   - N. Gunther: Guerrilla Capacity Planning, 2007: the USL curve.
//   - W. Fischer, K. Meier-Hellstern: The Markov-modulated Poisson process (MMPP)
//     cookbook, 1993: bursts.
package sim
