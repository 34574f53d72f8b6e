// Package deadline decides which deadlines teach a limiter the time that its work has.
package deadline
