// Package page serves the playground to one user, without a network. The simulations run in this
// program; on the site they run in the browser.
package page
