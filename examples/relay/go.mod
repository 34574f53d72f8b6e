module github.com/weir-go/weir/examples/relay

go 1.26
