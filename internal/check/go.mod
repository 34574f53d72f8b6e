module github.com/weir-go/weir/internal/check

go 1.26

require pgregory.net/rapid v1.3.0
