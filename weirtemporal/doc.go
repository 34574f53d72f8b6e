// Package weirtemporal gives the activities of a Temporal worker (go.temporal.io/sdk) as many slots
// as a limiter finds.
//
// A worker polls for an activity while it has a free slot. The number of slots is fixed, 1,000 by
// default. At times the downstream of the activities can take fewer, or more, at once. [New] makes
// slots that follow a [*weir.Limiter], and their plugin puts them into the worker's options:
//
//	slots := weirtemporal.New(lim)
//	w := worker.New(c, "images", worker.Options{Plugins: []worker.Plugin{slots.Plugin()}})
//
// A worker reserves a slot before it polls, and a poll may last a minute. That time is neither
// latency nor work in flight, so the limiter does not see it. [Slots] count the reserved slots, and
// hand out no more slots than the limiter has room for. When an activity arrives, an interceptor
// acquires a permit for it, and gives it back with the outcome of the activity, which the SDK does
// not pass on to the supplier of the slots.
//
// Tasks that the limiter has no room for stay on Temporal's server, for other workers. The limiter
// needs no queue. Only activities are limited: workflow tasks, local activities and Nexus
// operations have the slots of the worker's options.
package weirtemporal
