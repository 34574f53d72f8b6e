package fleet

import "context"

// mostReports is how many errors wait for OnError, which drops further ones.
const mostReports = 16

// report passes an error to OnError, without waiting for it: a member that stood still would keep
// its share after its lease.
func (m *Member) report(err error) {
	select {
	case m.reports <- err:
	default:
	}
}

// tell calls OnError until ctx ends, and then for the errors that wait.
func (m *Member) tell(ctx context.Context) {
	for {
		select {
		case err := <-m.reports:
			m.hook.Tell(err)
			continue
		default:
		}
		select {
		case err := <-m.reports:
			m.hook.Tell(err)
		case <-ctx.Done():
			return
		}
	}
}
