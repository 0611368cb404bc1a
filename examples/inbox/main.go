// Command inbox books the results of a subscription into a business database, each exactly once.
//
// A result may be delivered more than once: a consumer dies between its effect and its acknowledgement, a socket is cut,
// a time runs out. So the effect and the number of the result are written in one transaction of the business database;
// the number is a key there, and a result whose key exists has had its effect.
//
//	inbox -url http://127.0.0.1:7460 -key orb_… -subscription ledger -database 'user:password@tcp(127.0.0.1:3306)/shop'
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	orbit "github.com/orbitrun/orbit/sdk"
	"github.com/orbitrun/orbit/sdk/stream"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "inbox:", err)
		os.Exit(1)
	}
}

func run() error {
	url := flag.String("url", os.Getenv("ORBIT_URL"), "address of Orbit")
	key := flag.String("key", os.Getenv("ORBIT_KEY"), "key with the scope subscriptions:consume")
	subscription := flag.String("subscription", "ledger", "subscription to consume")
	database := flag.String("database", "", "business database, as the MySQL driver spells it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	client, err := orbit.New(*url, *key)
	if err != nil {
		return err
	}
	books, err := openBooks(ctx, *database)
	if err != nil {
		return err
	}
	defer func() { _ = books.Close() }()
	consumer, err := stream.New(client, *subscription, books.Book, stream.Options{})
	if err != nil {
		return err
	}
	log.Printf("booking results of %s", *subscription)
	return consumer.Run(ctx)
}
