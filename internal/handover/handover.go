package handover

import (
	"encoding/json"
	"fmt"
	"time"
)

// Variable is the variable of the environment that has a [Request] as JSON. It may hold
// credentials, which arguments would show to every user of the machine.
const Variable = "WEIR_REQUEST"

// A Queue has the place of the jobs. kong, which reads the command line of weir, defines the tags.
type Queue struct {
	Stream   string `required:"" placeholder:"NAME" help:"Name of the stream of jobs. weir work and weir enqueue make it if there is none."`
	Nats     string `xor:"server" placeholder:"URL" help:"Server of NATS with JetStream, such as nats://10.0.0.5:4222; several with commas. Defaults to the variable WEIR_NATS, without --embedded."`
	Creds    string `placeholder:"FILE" type:"existingfile" help:"Credentials for --nats."`
	Embedded string `xor:"server" placeholder:"DIR" help:"Folder of a server within weir, for the processes of this machine. Defaults to weir-jobs, without --nats."`
}

// Work asks weir-work to run a worker.
type Work struct {
	Queue

	Max      int           `type:"count" default:"100" placeholder:"N" help:"Jobs at once, at most (default ${default}). How many fare best is found by a law."`
	Timeout  time.Duration `type:"pause" default:"1h" placeholder:"TIME" help:"How long an attempt may take (default ${default}); 0 is without end."`
	Grace    time.Duration `type:"span" default:"10s" placeholder:"TIME" help:"From SIGTERM to SIGKILL (default ${default})."`
	Attempts int           `type:"count" default:"10" placeholder:"N" help:"Attempts before a job becomes a dead letter (default ${default})."`
	Backoff  time.Duration `type:"span" default:"10s" placeholder:"TIME" help:"Rest after the first attempt (default ${default}), which doubles up to an hour."`
	Open     bool          `help:"Show the worker live in a browser as well."`

	Command []string `arg:"" passthrough:"" help:"The command, after --, with its arguments. It gets the payload on its standard input, WEIR_JOB_ID and WEIR_JOB_ATTEMPT."`
}

// Enqueue asks weir-work to add jobs.
type Enqueue struct {
	Queue

	Lines bool `help:"Make a job of each line of the standard input."`

	Payload []string `arg:"" optional:"" help:"Payloads, one for each job. Without any, the standard input is the payload of one job."`
}

// Jobs asks weir-work to print the state of a stream.
type Jobs struct {
	Queue

	Limit int `type:"size" default:"10" placeholder:"N" help:"Dead letters to list, the oldest first (default ${default})."`
}

// Requeue asks weir-work to add the jobs of dead letters again.
type Requeue struct {
	Queue

	All bool `help:"Requeue all dead letters."`

	ID []uint64 `arg:"" optional:"" name:"id" help:"Dead letters, as weir jobs lists them."`
}

// Fleet asks weir-fleet to serve the store of a fleet on its standard input and output.
type Fleet struct {
	Name        string
	Store       string // URL of NATS, nats://host:4222, or PostgreSQL, postgres://user@host/database
	Credentials string // file with a password, a token, or credentials of NATS

	// For NATS: the files of authorities to believe, of a certificate and of its key; the name that
	// the server's certificate must have; and the number of servers that keep the entries.
	CA, Certificate, Key, ServerName string
	Replicas                         int

	Refresh time.Duration // the time between the writes of a member
}

// A Request has one field that is not nil: the request itself.
type Request struct {
	Work    *Work    `json:",omitempty"`
	Enqueue *Enqueue `json:",omitempty"`
	Jobs    *Jobs    `json:",omitempty"`
	Requeue *Requeue `json:",omitempty"`
	Fleet   *Fleet   `json:",omitempty"`
}

// Encode returns the variable for the environment, as NAME=value.
func (r Request) Encode() (string, error) {
	text, err := json.Marshal(r)
	return Variable + "=" + string(text), err
}

// Decode reads a request from the value of the variable.
func Decode(value string) (r Request, err error) {
	if err := json.Unmarshal([]byte(value), &r); err != nil {
		return r, fmt.Errorf("%s: %w", Variable, err)
	}
	return r, nil
}
