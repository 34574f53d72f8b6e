// Package config is the file of weir proxy: its settings, and how they are read and checked.
//
//	upstreams:
//	  api: {addresses: ["http://127.0.0.1:9000"]}
//
// is a whole one. It listens on :8080 and limits what reaches the upstream with the default law;
// the admin address is 127.0.0.1:8081.
//
// # Tags
//
// The structs below are the one place where a setting is described. Of a field,
//
//	yaml      is its name in the file; with omitempty 0 means the library's default and cannot be written
//	help      says what it does: for the schema and the documentation
//	default   is its value if the file has none, in the file's words
//	enum      lists the allowed words
//	min, max  bound it, in the file's words; without, from 0 to the most that its kind allows
//	required  is "yes" if it cannot be left out
//	live      is "no" if a reload cannot change it, and "cap" if it cannot become 0 or cease to be: see [Live]
//
// # Errors
//
// What is wrong is said with the file, the line and column, the field, the value, and what is
// allowed; of a value of the environment with its variable in place of the line. All that is wrong
// is said at once, but for a file that is no YAML.
package config
