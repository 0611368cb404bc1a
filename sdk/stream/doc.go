// Package stream consumes the results of tasks through a subscription.
//
//	consumer, err := stream.New(client, "ledger", func(ctx context.Context, r stream.Result) error {
//		return book(ctx, r.TaskID, r.Output) // nil acknowledges, an error refuses and comes again later
//	}, stream.Options{})
//	err = consumer.Run(ctx)
//
// Results come one after the other in the order of the stream. A result may come more than once (a process that dies
// between its work and its acknowledgement cannot be told from one that dies before), so the handler writes its effect
// and the number of the result in one transaction of its own database, and skips numbers it has.
//
// Every result is checked before the handler sees it: its link must follow from its fields, it must continue the link of
// its neighbour, and no result of the subscription may lie between it and the one before. Anything else ends Run with
// ErrGap, and nothing is acknowledged any more.
package stream
