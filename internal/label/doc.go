// Package label cuts names that come from outside to the size of a label.
package label
