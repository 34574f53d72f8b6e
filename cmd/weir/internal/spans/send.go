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

// These sizes and times bound the sending of spans. The first three are the defaults of
// OpenTelemetry's batch processor, which collectors expect.
const (
	queueSize = 2048
	batchSize = 512
	batchTime = 5 * time.Second

	sendTimeout = 10 * time.Second // OTLP's default
)

// Run sends spans until ctx ends, then sends the queued spans. It returns within 10 s of the end of
// ctx: spans not sent by then are lost.
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
		t.send(sending, batch)
		batch = batch[:0]
	}
	for len(t.queue) > 0 {
		batch = append(batch, <-t.queue)
	}
	for part := range slices.Chunk(batch, batchSize) {
		t.send(sending, part)
	}
}

func (t *Tracer) send(ctx context.Context, batch []Span) {
	if len(batch) == 0 {
		return
	}
	err := t.post(ctx, encode(t.service, batch))
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

// maxAnswer bounds the bytes that are read of a collector's answer. Usual answers are shorter.
const maxAnswer = 64 << 10

func (t *Tracer) post(ctx context.Context, body []byte) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := t.client.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	_, _ = io.CopyN(io.Discard, answer.Body, maxAnswer) // so that the connection can be reused
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("it answered with status %d", answer.StatusCode)
	}
	return nil
}
