//go:build !unix

package main

import "errors"

func replace(string, []string, []string) error { return errors.ErrUnsupported }
