// Package weirtemporal gives the activities of a Temporal worker (go.temporal.io/sdk) as many slots
// as a limiter finds.
//
// A worker polls for an activity while it has a free slot, and how many it has is a number, 1,000.
// The downstream of the activities may take fewer at times, or more. [New] makes slots that follow
// a [*weir.Limiter], and their plugin puts them into the worker's options:
//
//	slots := weirtemporal.New(lim)
//	w := worker.New(c, "images", worker.Options{Plugins: []worker.Plugin{slots.Plugin()}})
//
// A worker has a slot before it polls, and a poll may last a minute. That is neither latency nor
// work in flight, so the limiter does not see it: [Slots] count the handed-out slots and hand
// out no more than there is room for. When an activity comes in, an interceptor takes a permit for
// it, and gives it back with the outcome of the activity, which the SDK does not pass on to the
// supplier of the slots.
//
// Tasks that the limiter has no room for stay on Temporal's server, for other workers. The limiter
// needs no queue. Activities alone are limited: workflow tasks, local activities and Nexus
// operations have the slots of the worker's options.
package weirtemporal
