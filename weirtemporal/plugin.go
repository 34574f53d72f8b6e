package weirtemporal

import (
	"context"

	"go.temporal.io/sdk/worker"

	"github.com/weir-go/weir"
	"github.com/weir-go/weir/internal/settings"
)

// Plugin returns a plugin for worker.Options.Plugins. With it the worker takes the slots of its
// activities from s, and all other slots from its Tuner or its other options. The plugin adds the
// interceptor too.
//
// worker.New panics, with an error that matches [weir.ErrConfig], if the options have
// MaxConcurrentActivityExecutionSize, because the limiter's Max takes its place, or
// EnableSessionWorker. A session holds a slot for as long as it lives, which is no measure of load.
func (s *Slots) Plugin() worker.Plugin { return &plugin{slots: s} }

type plugin struct {
	worker.PluginBase
	slots *Slots
}

// Name implements [worker.Plugin].
func (p *plugin) Name() string { return "weir" }

// ConfigureWorker implements [worker.Plugin].
func (p *plugin) ConfigureWorker(_ context.Context, options worker.PluginConfigureWorkerOptions) error {
	o := options.WorkerOptions
	if n := o.MaxConcurrentActivityExecutionSize; n != 0 {
		return settings.Invalid(weir.ErrConfig, "weirtemporal: MaxConcurrentActivityExecutionSize", n, "0: the limiter's Max bounds the activities")
	}
	if o.EnableSessionWorker {
		return settings.Invalid(weir.ErrConfig, "weirtemporal: EnableSessionWorker", true, "false: give sessions a worker of their own")
	}
	others, err := tuner(o)
	if err != nil {
		return err
	}
	o.Tuner, err = worker.NewCompositeTuner(worker.CompositeTunerOptions{
		WorkflowSlotSupplier:        others.GetWorkflowTaskSlotSupplier(),
		ActivitySlotSupplier:        p.slots,
		LocalActivitySlotSupplier:   others.GetLocalActivitySlotSupplier(),
		NexusSlotSupplier:           others.GetNexusSlotSupplier(),
		SessionActivitySlotSupplier: others.GetSessionActivitySlotSupplier(),
	})
	o.Interceptors = append(o.Interceptors[:len(o.Interceptors):len(o.Interceptors)], p.slots.Interceptor())
	return err
}

// tuner returns the Tuner of the options, or makes a tuner of their numbers of slots. It then
// removes the numbers, because the SDK does not accept both.
func tuner(o *worker.Options) (worker.WorkerTuner, error) {
	if o.Tuner != nil {
		return o.Tuner, nil
	}
	fixed := worker.FixedSizeTunerOptions{
		NumWorkflowSlots:      o.MaxConcurrentWorkflowTaskExecutionSize,
		NumLocalActivitySlots: o.MaxConcurrentLocalActivityExecutionSize,
		NumNexusSlots:         o.MaxConcurrentNexusTaskExecutionSize,
	}
	o.MaxConcurrentWorkflowTaskExecutionSize = 0
	o.MaxConcurrentLocalActivityExecutionSize = 0
	o.MaxConcurrentNexusTaskExecutionSize = 0
	return worker.NewFixedSizeTuner(fixed)
}
