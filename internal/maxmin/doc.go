// Package maxmin splits a total by max-min fairness: a need below an equal share is met, and the
// other needs share the rest equally.
package maxmin
