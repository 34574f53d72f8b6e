// Package upstream sends requests to the addresses of a service.
//
// # Choice
//
// A request goes to the address with fewer requests in flight, out of two random addresses (M.
// Mitzenmacher, The power of two choices in randomized load balancing, 2001). A request is in
// flight until its caller is done with the response.
//
// # Rotation
//
// An address is sick if checks find it unhealthy, or for the time Eject.For after several requests
// in a row failed (it is ejected). A request fails if it gets no answer, or a 502, 503 or 504.
// Three events do not count as failures:
//
//   - A client that leaves, or sends a body that cannot be read, says nothing about the address.
//   - A deadline other than the route's depends on the client. A route's timeout has
//     [weir.ErrExecutionTimeout] as its cause, and counts.
//   - A 503 with Retry-After or Weir-Refused comes from a server that sheds load. It works, and an
//     ejection would move its load to the other addresses, which would then shed load too.
//
// At most half of the addresses are out of rotation, rounded down. If more addresses are sick, the
// addresses that became sick last are out: the other sick addresses had more time to recover. An
// address returns as soon as its ejection ends, and the next failure ejects it again, unless a
// success came before.
//
// # Retries
//
// A request that found no connection goes to another address, three at most, because no byte of it
// was sent. The package also sends a request again that a server of HTTP/2 says it has not begun,
// if its body can be read again. It retries no other request. net/http replaces a connection that
// was closed while idle, if that is safe, and itself retries requests of HTTP/2 without a body.
package upstream
