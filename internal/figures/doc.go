// Package figures formats the activity of a limiter as a line a second, for the commands.
package figures
