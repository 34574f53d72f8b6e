module github.com/weir-go/weir/cmd/weir

go 1.26.0

require (
	github.com/alecthomas/kong v1.17.0
	github.com/fsnotify/fsnotify v1.10.1
	github.com/goccy/go-yaml v1.19.2
	github.com/pires/go-proxyproto v0.15.0
	github.com/sony/gobreaker/v2 v2.4.0
	golang.org/x/sys v0.49.0
)
