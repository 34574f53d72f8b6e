package throttle

import "context"

// Full asks the limiter of a side, as [weir.Limiter.Full] does.
func (t *Throttle) Full(ctx context.Context, op Op) error { return t.sides[op].limiter.Full(ctx) }
