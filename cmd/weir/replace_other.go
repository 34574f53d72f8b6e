//go:build !unix

package main

import "errors"

// replace is not possible here.
func replace(string, []string, []string) error { return errors.ErrUnsupported }
