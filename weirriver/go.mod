module github.com/weir-go/weir/weirriver

go 1.26.0

require (
	github.com/riverqueue/river v0.51.1
	github.com/riverqueue/river/rivertype v0.51.1
)

require (
	github.com/riverqueue/river/riverdriver v0.51.1 // indirect
	github.com/riverqueue/river/rivershared v0.51.1 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.2.0 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/sync v0.24.0 // indirect
)
