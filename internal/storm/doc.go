// Package storm makes the documents that storms write to a database.
package storm
