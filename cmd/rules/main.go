// Command rules is `make rules`: it reads the whole tree, prints one line of
// figures and fails on any breach of the house rules that a compiler, sqlc or a
// linter does not hold. It needs no database and no network.
//
// Each breach is printed as file:line: rule: text. Exit codes: 0 no breach, 1 a
// breach, 2 the tree could not be read, or held too little to judge.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

func run(args []string, out, trouble io.Writer) int {
	flags := flag.NewFlagSet("rules", flag.ContinueOnError)
	flags.SetOutput(trouble)
	root := flags.String("root", ".", "root of the checkout")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	report, err := check(*root)
	if err != nil {
		fmt.Fprintln(trouble, "rules:", err)
		return 2
	}
	for _, b := range report.breaches {
		fmt.Fprintln(trouble, b)
	}
	fmt.Fprintln(out, report.line())
	if len(report.breaches) > 0 {
		return 1
	}
	return 0
}

// check applies every rule to the tree below root.
func check(root string) (*report, error) {
	tree, err := readTree(root)
	if err != nil {
		return nil, err
	}
	r := newReport()
	checkSchema(tree, r)
	checkQueries(tree, r)
	checkPortable(tree, r)
	if err := checkGo(tree, r); err != nil {
		return nil, err
	}
	checkModules(tree, r)
	checkSizes(tree, r)
	// Zero breaches in an empty tree would prove nothing.
	for _, seen := range []string{"tables", "queries", "go_files"} {
		if r.seen[seen] == 0 {
			return nil, errors.New("no " + strings.ReplaceAll(seen, "_", " ") + " found below " + root + ": run in the project root or pass -root")
		}
	}
	r.sort()
	return r, nil
}
