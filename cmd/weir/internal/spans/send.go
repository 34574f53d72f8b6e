package spans

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// The sizes and times of sending. The first three are the defaults of OpenTelemetry's batch
// processor, which collectors are used to.
const (
	queueSize = 2048
	batchSize = 512
	batchTime = 5 * time.Second

	sendTimeout = 10 * time.Second // OTLP's default
	retryAfter  = time.Second
)

// Run sends spans until ctx ends, then sends the queued ones. It returns within 10 s of the
// end of ctx: spans not sent by then are lost.
func (t *Tracer) Run(ctx context.Context) {
	if t == nil {
		return
	}
	tick := time.NewTicker(batchTime)
	defer tick.Stop()
	sending, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(sendTimeout, end) })()
	batch := make([]Span, 0, batchSize)
	for ctx.Err() == nil {
		select {
		case s := <-t.queue:
			if batch = append(batch, s); len(batch) < batchSize {
				continue
			}
		case <-tick.C:
		case <-ctx.Done():
			continue
		}
		t.send(sending, ctx.Done(), batch)
		batch = batch[:0]
	}
	for len(t.queue) > 0 {
		batch = append(batch, <-t.queue)
	}
	for part := range slices.Chunk(batch, batchSize) {
		t.send(sending, ctx.Done(), part)
	}
}

// send sends a batch, and retries once if that may help: after a pause, or at once when the
// proxy ends.
func (t *Tracer) send(ctx context.Context, ends <-chan struct{}, batch []Span) {
	if len(batch) == 0 {
		return
	}
	body := encode(t.service, batch)
	again, err := t.post(ctx, body)
	if again {
		select {
		case <-time.After(retryAfter):
		case <-ends:
		}
		_, err = t.post(ctx, body)
	}
	if err == nil {
		t.sent.Add(uint64(len(batch)))
	} else {
		t.failed.Add(uint64(len(batch)))
	}
	t.report(err)
}

// report logs when the collector stops or resumes accepting spans.
func (t *Tracer) report(err error) {
	failing := err != nil
	if failing == t.failing {
		return
	}
	t.failing = failing
	if failing {
		t.log.Warn("spans are lost", "endpoint", t.endpoint, "error", err)
	} else {
		t.log.Info("spans are taken again", "endpoint", t.endpoint)
	}
}

// maxAnswer is larger than a collector's answer.
const maxAnswer = 64 << 10

// post returns the error if the collector did not accept a batch, and whether it may accept
// it later.
func (t *Tracer) post(ctx context.Context, body []byte) (again bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := t.client.Do(r)
	if err != nil {
		return true, err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be reused
	if answer.StatusCode/100 == 2 {
		return false, nil
	}
	err = fmt.Errorf("it answered with status %d", answer.StatusCode)
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true, err
	}
	return false, err
}
