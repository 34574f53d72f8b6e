// Package config is the file of weir proxy: its settings, and how they are read and checked.
//
//	upstreams:
//	  api: {addresses: ["http://127.0.0.1:9000"]}
//
// is a whole one. It listens on :8080 and limits what reaches the upstream with the default law; the admin address is 127.0.0.1:8081.
//
// # Tags
//
// The structs below are the one place where a setting is described. Of a field,
//
//	yaml     is its name in the file
//	help     says what it does: for the schema and the documentation
//	default  is its value if the file has none, in the file's words
//	enum     lists the allowed words
//	live     is "no" if a reload cannot change it
//
// # Errors
//
// What is wrong is said with the file, the line and column, the field, the value, and what is allowed. All that is wrong
// is said at once.
package config
