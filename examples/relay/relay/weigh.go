package relay

import "github.com/weir-go/weir/examples/relay/nostr"

// The memory of subscriptions, in bytes. TestSubscriptionsWeighWhatTheyTake compares it with
// the heap.
const (
	ofSubscription = 640 // itself, its context, and its places in three maps
	ofFilter       = 192
	ofTags         = 384 // the map of a filter with tags
	ofHeading      = 400 // in the index, in a set of its own, and in the subscription
	ofValue        = 32  // beside the text of a tag's value
)

// weightOf returns the memory of a subscription with these filters, when the connection's
// subscriptions already have the given number of headings.
func weightOf(filters []nostr.Filter, filed int) int {
	bytes, under := ofSubscription, 0
	for i := range filters {
		bytes += weightOfFilter(&filters[i])
		under += filedUnder(&filters[i])
	}
	if filed+under > mostFiled {
		under = 1
	}
	return bytes + under*ofHeading
}

func weightOfFilter(f *nostr.Filter) int {
	bytes := ofFilter + len(nostr.ID{})*cap(f.IDs) + len(nostr.PubKey{})*cap(f.Authors) + 8*cap(f.Kinds)
	if len(f.Tags) > 0 {
		bytes += ofTags
	}
	for _, values := range f.Tags {
		bytes += ofValue * cap(values)
		for _, v := range values {
			bytes += len(v)
		}
	}
	return bytes
}
