// Package suites has the systems on which laws are measured: the named scenarios in the folder
// scenarios, and the systems that [Random], [Harm], [Shared] and [Pushback] draw.
package suites
