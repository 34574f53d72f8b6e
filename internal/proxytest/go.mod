module github.com/weir-go/weir/internal/proxytest

go 1.26.0
