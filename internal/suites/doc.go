// Package suites has the systems on which laws are measured: the named scenarios in the folder
// scenarios, and those that [Random], [Harm], [Shared] and [Pushback] draw.
package suites
