// Command outbox hands over to Orbit what a business has decided, without losing it and without doing it twice.
//
// The business writes its record and the command for Orbit in one transaction of its own database (Place). This relay
// sends the commands. Whatever dies in between, the command is still there, with the request, the target, the operation
// id and the submit key it was written with: the same key again is the same task.
//
//	outbox -url http://127.0.0.1:7460 -key orb_… -database 'user:password@tcp(127.0.0.1:3306)/shop'
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	orbit "github.com/orbitrun/orbit/sdk"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "outbox:", err)
		os.Exit(1)
	}
}

func run() error {
	url := flag.String("url", os.Getenv("ORBIT_URL"), "address of Orbit")
	key := flag.String("key", os.Getenv("ORBIT_KEY"), "key with the scope tasks:submit")
	database := flag.String("database", "", "business database, as the MySQL driver spells it")
	lease := flag.Duration("lease", 10*time.Second, "how long a relay that says nothing keeps a command")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// One try at a time: the relay's own budget counts, and the command stays as it is between two tries.
	client, err := orbit.New(*url, *key, orbit.WithRetryFor(0))
	if err != nil {
		return err
	}
	box, err := openBox(ctx, *database)
	if err != nil {
		return err
	}
	defer func() { _ = box.Close() }()
	log.Printf("relaying commands")
	return (&relay{box: box, client: client, lease: *lease}).Run(ctx)
}
