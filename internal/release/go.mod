module github.com/weir-go/weir/internal/release

go 1.26.0
