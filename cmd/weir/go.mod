module github.com/weir-go/weir/cmd/weir

go 1.26

require (
	github.com/alecthomas/kong v1.17.0
	github.com/goccy/go-yaml v1.19.2
	github.com/sony/gobreaker/v2 v2.4.0
)
