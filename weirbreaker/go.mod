module github.com/weir-go/weir/weirbreaker

go 1.26

require github.com/sony/gobreaker/v2 v2.4.0
