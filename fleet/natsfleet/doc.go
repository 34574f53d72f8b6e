// Package natsfleet keeps the entries of a fleet in a key-value bucket of NATS JetStream.
//
//	conn, err := nats.Connect("nats://10.0.0.5:4222", nats.UserCredentials("weir.creds"))
//	...
//	js, err := jetstream.New(conn)
//	...
//	store, err := natsfleet.New(ctx, js, natsfleet.Config{Fleet: "search", Replicas: 3})
//	...
//	member, err := fleet.Join(fleet.Config{Store: store, ...})
//
// # Cost
//
// A member sends one or two small messages a second and receives the same number. The member that
// allocates receives the messages of all members.
//
// # Safety
//
// A bucket may lose its last writes when its leader changes, and all its writes with its disk.
// Package fleet keeps the cap in both cases. A process that may write to the bucket, whose subjects
// are $KV.weir_fleet_NAME.>, can take all shares.
package natsfleet
