// Package nearest advises on names that are not known.
package nearest
