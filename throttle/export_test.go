package throttle

import (
	"context"
	"time"
)

// Full asks the limiter of a side, as [weir.Limiter.Full] does.
func (t *Throttle) Full(ctx context.Context, op Op) error { return t.sides[op].limiter.Full(ctx) }

// Tick is how often the laws decide.
func (t *Throttle) Tick() time.Duration { return t.conf.Tick }
