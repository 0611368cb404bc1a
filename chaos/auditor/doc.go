// The auditor judges a run of Orbit from outside. It shares no code with the server: it reads what the clients wrote
// down, what the handlers wrote down, and the tables, and says whether the promises held.
//
//	auditor --database USER:PASSWORD@tcp(HOST:PORT)/NAME --clients FILE… --effects FILE… [--expect-end]
//
// Journals are JSON lines, written before and after the fact by processes that may be killed between the two:
//
//	clients  {"op":"sent","key":K}                     a submission is about to be sent
//	         {"op":"accepted","key":K,"task":T}        its receipt has come
//	effects  {"op":"begin","task":T,"attempt":N}       a handler starts
//	         {"op":"done","task":T,"attempt":N}        it has done its work, and reports now
//
// The last line is one JSON object of figures. The exit code is 1 when a promise is broken, 2 when it could not judge.
package main
