// Package upstream sends requests to the addresses of a service.
//
// # Choice
//
// A request goes to the one of two random addresses that has fewer requests in flight (M.
// Mitzenmacher, The power of two choices in randomized load balancing, 2001). A request is in
// flight until the body of its response is closed.
//
// # Rotation
//
// An address is sick if checks find it unhealthy, or for a while after requests in a row failed (it
// is ejected). A request fails if it gets no answer, or a 502, 503 or 504. Three things are no
// failure:
//
//   - A client that leaves, or sends a body that cannot be read, says nothing of the address.
//   - A deadline that is not the route's says how patient a client is. The timeout of a route has
//     [weir.ErrExecutionTimeout] as its cause, and counts.
//   - A 503 with Retry-After or Weir-Refused comes from a server that sheds load. It works, and to
//     eject it would move its load to the others, which would shed next.
//
// At most half of the addresses are out of rotation, rounded down. If more are sick, the ones that
// became sick last are out: the others had more time to recover. An address whose ejection is over
// is back at once, and the next failure ejects it again, unless a success came before.
//
// # Retries
//
// A request that found no connection goes to another address, three at most, because no byte of it
// was sent. Nothing else is sent again, but for what net/http does: a connection that was closed
// while it was idle is replaced if that is safe.
package upstream
