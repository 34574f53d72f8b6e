// Package bulkhead divides a service into compartments, one for each key (a route, an operation, a
// tenant), so that a flood of work for one key does not affect the other keys.
//
// # The idea
//
// A [Set] has a [weir.Limiter] for each key: slots, a queue, a queue timeout and, if its law
// adapts, a limit of its own. Work for one key can use up only the slots of that key. A bulkhead
// isolates the resources that it counts: work in flight and work that waits. Two keys still
// compete for a pool of connections, a lock or a processor that both use, unless their limits add
// up to no more than its capacity. If every key needs more at times than its part of the capacity,
// set a cap over all keys ([Config].Max). It bounds the sum, and decides which key gets the next
// slot when the cap is reached.
//
// # Sizing
//
// By Little's law work in flight is arrivals a second times seconds each. A key with a
// peak of λ requests a second and a mean service time S keeps λS slots busy; the number
// in flight varies about that like a Poisson variable, so that
//
//	slots = λS + 2√(λS)
//
// is enough all but a few percent of the time: 40 a second at 100 ms are 4 slots, and
// with room 8. A queue of n in front of c slots drains in nS/c, the wait of the last request
// in it: with a queue timeout W more than cW/S places are never of use. Work that arrives
// when both are full is refused. An execution timeout (weir.Config.Timeout)
// is apart from all that, and runs from the moment the work starts.
//
// A downstream that takes C at once, shared by keys that need c1, c2, ... slots:
//
//   - Σci <= C: the compartments are independent and no cap is needed.
//
//   - Σci > C: set Max to C. Each key then has its Reserved slots, never lent, and a
//     part of the rest,
//
//     entitlement = reserved + (Max - Σ reserved) * share / Σ shares
//
// The sum of shares is over the keys that have work. Other keys may borrow unused slots of a key.
// A key that returns gets the next slots that become free. Until then its work waits in its queue,
// or is refused without one, so give a key whose work must start at once a reserve.
//
// A key that is alone may use all slots that are not reserved for others. A freed slot goes first
// to waiting work of a key within its entitlement, then to the key that uses least beyond its
// reserve, relative to its share, and among equals in turn, by share. So a key that returns gets
// its slots back one by one, as the work of borrowers ends; nothing is interrupted. A key in
// shadow mode also runs above the cap, and takes the slots that it would have had.
//
// [Set.SetMax] moves the cap while it is in use, to 0 if need be.
//
// The usual mistake is a limit that is too low, which refuses work that the service could have
// done. A limit that is too high isolates nothing. [weir.Config].Shadow shows the refusals of a
// size beforehand.
//
// # Keys
//
// Keys of [Config].ByKey always have their compartment. Any other key gets one with the settings of
// [Config].Default on first use. At most [Config].MaxKeys such compartments exist at a time. Then a
// new key replaces a key that is idle and was not used recently (the clock algorithm: Corbató, "A
// Paging Experiment with the Multics System", 1968). If the few dozen keys that the set checks are
// all in use, the new key shares the compartment [Overflow] with other such keys. So invented keys
// take a bounded amount of memory and slots, and never affect a configured key. Still, take keys
// from a router's patterns and not from raw paths: a key that is used once learns nothing.
//
// # Budgets and breakers
//
// A key loses slots while its p95 is above its [Compartment].Budget, and gets them back when it
// recovers. A key is refused at once while its [Compartment].Breaker is open.
//
// # Sources
//
// The name and the pattern are Michael Nygard's (Release It!, 2007). Little, "A Proof
// for the Queuing Formula L = λW", Operations Research 9(3), 1961. Shares that are
// lent and returned come from Kubernetes' API Priority and Fairness (KEP-1040).
package bulkhead
