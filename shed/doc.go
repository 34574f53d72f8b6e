// Package shed refuses work while a signal of load is above its mark. It refuses the least
// important work first. The signal is the CPU, memory, a store's backlog, or any other signal that
// a [load.Monitor] watches.
//
// A limiter sees a server by the latency of its work. That is enough as long as scarce
// resources slow the work down. A [Shedder] goes in front of a limiter, or of a set, and adds
// signals that latency does not show, or shows too late:
//
//	mon, err := load.New(load.Config{Sources: []load.Source{&load.CPU{Limit: 0.6}}})
//	go mon.Run(ctx)
//	cpu, err := shed.New(mon, shed.Config{Name: "cpu"})
//	http.ListenAndServe(":8080", weirhttp.Limit(mux, weirhttp.One(cpu.Admitter(lim))))
//
// # Mathematics
//
// Load is 1 when the signal is at its limit. Of the work of a priority, the share
//
//	(load - from) / (to - from), within 0 to 1
//
// is refused. The marks are
//
//	low       from 1.0 to 1.2
//	normal    from 1.2 to 1.5
//	high      from 1.5 to 2.0
//	critical  never
//
// so all work of one priority is refused before the next priority loses any work. The shedder
// spreads refusals evenly over the arriving work: it adds up the shares, and refuses work whenever
// the sum reaches 1. With a share of 0.25 it refuses every fourth piece of work. Nothing is random.
//
// # When it fails
//
//   - A signal that cannot exceed its limit: a CPU with the limit 1 has no load above 1, so only
//     low priorities are ever shed, and only a little. With [load.CPU].Limit 0.6, low work is
//     shed from 60% of the CPU, normal from 72% and high from 90%.
//   - A signal that the refused work does not move: all work but critical work is refused, and the
//     signal stays above its mark.
//   - A signal that is missing or stale sheds nothing. [load.Config].OnEvent reports it.
//   - Several servers that shed by one shared signal all shed at once.
//
// # Sources
//
//   - Shares that rise with the load, by priority: Netflix, "Enhancing Netflix Reliability with
//     Service-Level Prioritized Load Shedding", 2024; Uber, "Cinnamon", 2023.
package shed
