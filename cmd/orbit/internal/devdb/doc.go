// Package devdb is the database of `orbit dev`: a real server, in a folder of its own, without any setup.
//
// Finding, starting and stopping are db.sh's business (package scripts); this package adds ownership. One process
// owns a folder by an flock it holds for life, so two `orbit dev` on one folder are refused by name, and kill -9
// frees it. The server lives in a session of its own: the terminal's Ctrl-C reaches orbit, which then stops the
// server cleanly. When orbit itself was killed, the server runs on; the next owner finds it by its folder and goes
// on with it, or, when it died too, starts it on the same data and lets it recover.
package devdb
