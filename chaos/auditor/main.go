package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"

	_ "github.com/go-sql-driver/mysql"
)

// complaintsMax keeps a wholly broken run readable.
const complaintsMax = 50

type paths []string

func (p *paths) String() string { return strings.Join(*p, ",") }

// Set adds one path.
func (p *paths) Set(text string) error { *p = append(*p, text); return nil }

func main() {
	var submitted, ran paths
	address := flag.String("database", "", "go-sql-driver address of the database")
	ended := flag.Bool("expect-end", false, "nothing may be open any more, except what waits for a person")
	flag.Var(&submitted, "clients", "journal of a submitter; may be repeated")
	flag.Var(&ran, "effects", "journal of a worker; may be repeated")
	flag.Parse()
	f, err := audit(context.Background(), *address, submitted, ran, *ended)
	if err != nil {
		fmt.Fprintln(os.Stderr, "auditor: cannot judge:", err)
		os.Exit(2)
	}
	text, _ := json.Marshal(f)
	fmt.Println(string(text))
	if f.broken() > 0 {
		os.Exit(1)
	}
}

func audit(ctx context.Context, address string, submitted, ran []string, ended bool) (figures, error) {
	c, err := readClients(submitted)
	if err != nil {
		return figures{}, err
	}
	e, err := readEffects(ran)
	if err != nil {
		return figures{}, err
	}
	db, err := sql.Open("mysql", address)
	if err != nil {
		return figures{}, err
	}
	defer func() { _ = db.Close() }()
	r, err := readRows(ctx, db)
	if err != nil {
		return figures{}, err
	}
	said := 0
	complain := func(text string) {
		if said++; said <= complaintsMax {
			fmt.Fprintln(os.Stderr, text)
		}
	}
	f := judge(c, e, r, ended, complain)
	if f.Drift, err = drift(ctx, db, complain); err != nil {
		return f, err
	}
	f.Gaps, err = stream(ctx, db, r, complain)
	return f, err
}
