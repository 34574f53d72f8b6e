// Package storetest checks stores of package fleet, and has a store in memory for tests.
package storetest
