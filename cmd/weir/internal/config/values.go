package config

import (
	"time"

	"github.com/weir-go/weir/law"
)

// A Duration is written as 500ms, 30s or 2m.
type Duration time.Duration

// Bytes is written as 65536, 64KiB or 10MiB.
type Bytes int64

// Law is a control law in its text form.
type Law struct{ law.Law }
