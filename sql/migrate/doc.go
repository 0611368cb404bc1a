// Package migrate owns the way of the schema into a database: it plans
// versioned migrations from the desired state, applies them, and lets a node
// start only on the schema it was built for (O4, O15).
//
// Two folders are the truth. sql/schema holds the desired state, sql/migrations
// the forward-only way to it, sealed by atlas.sum. Three things must agree
// before anybody trusts a database:
//
//	replay(sql/migrations) == replay(sql/schema)        Verify, in CI
//	revisions of the database == embedded migrations    Verify and Check
//	tables of the database == embedded inventory        Verify and Check
//
// The inventory (sql/migrations/schema.txt, written by Diff) is the schema in
// words that MySQL 8.0–9.7 and MariaDB share. A starting node compares the live
// information_schema with it, so the check costs five reads, needs no scratch
// database and can name what differs.
//
// The revision table has the name and the columns of the stock atlas CLI, so
// both tools can be used on one database. Planning and replaying need an empty
// database; the package creates one with a random name beside the target and
// drops it again.
package migrate
