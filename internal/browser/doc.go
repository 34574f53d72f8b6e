// Package browser shows a dashboard in the user's browser, for the commands.
package browser
