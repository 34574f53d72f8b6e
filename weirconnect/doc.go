// Package weirconnect puts limiters in front of Connect servers ([NewServer]) and Connect clients ([NewClient]).
package weirconnect
