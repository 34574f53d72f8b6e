module github.com/weir-go/weir/weirotel

go 1.26
