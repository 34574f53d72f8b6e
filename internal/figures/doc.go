// Package figures puts what a limiter does into a line a second, for the commands.
package figures
