// Package storetest checks stores of package fleet, and has one in memory for tests.
package storetest
