// Package dbtest gives every test a real database of its own.
//
//	db := dbtest.New(t)           // fresh tables, parallel safe, nothing to close
//	db.QueryContext(...)          // *DB is a *sql.DB
//	db.DSN()                      // for a server process under test
//
// One server serves the whole machine: ORBIT_TEST_DATABASE_URL when set, else the instance "test" of scripts/db.sh.
// On it lives a pool of databases named orbit_test_<schema digest>_<number>. A test owns one while a session holds
// the server-side lock of that name; the lock falls with the session, so a killed test process frees its databases
// by itself, without a pid or a heartbeat. Creating the whole schema costs most of a second, emptying it a few
// milliseconds: therefore a database is created once and emptied by the next owner. The emptying is at acquisition
// and not at release, because a killed owner releases nothing.
//
// Databases stay in the pool of our own server (`scripts/db.sh wipe test` deletes it whole); on a server that was
// given by ORBIT_TEST_DATABASE_URL each is dropped when its test ends. Databases of another schema digest that
// nobody used for an hour are dropped by whoever comes next.
//
// ORBIT_TEST_KEEP=1 leaves the database of a failed test untouched and prints its name.
package dbtest
