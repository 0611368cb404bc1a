// Package bench drives a running server with the workloads by which queues and workflow engines are compared, and
// prints one JSON line for each. The work is done over HTTP by a worker in this process, as a user's would be.
//
//	w1   n single submissions by 32 submitters, no worker
//	w1b  n submissions in batches of 32 by 8 submitters
//	w2   n tasks ready, then one worker with 50 handlers; ends when the store shows none left
//	w3   10 tasks a second: submit call, submit to handler start, submit to result seen
//	w4   n workflows of three tasks in a row, 32 starters; ends when the store shows none left
//	w4lat  the same, one at a time: start call to result
//	w6   n workflows of one timer, due one after the other within 10 s: how late each ended, by the database's clock
//	w6burst  the same, all due at once
//	front  w2 behind 10,000 tasks of one held resource key, as a ratio to a clean queue
//	w2sub  w2 while a consumer takes the results over a socket, as a ratio to w2 without, in turns
//
// Beside the rate stands what an item costs: CPU milliseconds of server, worker and database, rows written, statements
// and commits. Absolute times of a shared machine mean little; the costs and ratios of one run do.
package bench
