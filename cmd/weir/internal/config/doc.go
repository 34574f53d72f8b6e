// Package config reads and checks the configuration file of weir proxy. The smallest file is:
//
//	upstreams:
//	  api: {addresses: ["http://127.0.0.1:9000"]}
//
// It listens on :8080 and limits the requests to the upstream with the default law; the admin
// address is 127.0.0.1:8081.
//
// # Tags
//
// The tags of the structs below are the only description of the settings:
//
//	yaml      the name in the file; with omitempty 0 means the library's default and cannot be written
//	help      a description, for the schema and the documentation
//	default   the value if the file has none, as written in the file
//	enum      the allowed words
//	form      the form of a text, or of each in a list: one of forms
//	min, max  the bounds, as written in the file; by default from 0 to the largest value of the kind
//	required  "yes" if the setting cannot be omitted
//	live      "no" if a reload cannot change it, "cap" if a reload cannot change it to or from 0: see [Live]
//
// # Errors
//
// An error names the file, the line and column, the field, the value, and the allowed values.
// All errors are reported at once, except in a file that is not YAML.
package config
