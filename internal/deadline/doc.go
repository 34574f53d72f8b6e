// Package deadline decides which deadlines teach a limiter how much time its work has.
package deadline
