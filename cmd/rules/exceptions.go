package main

// exception is a place where a rule does not apply, with the reason. The lists
// are short on purpose and reviewed like code.
type exception struct{ place, reason string }

// beginExceptions may open transactions by themselves. sql/migrate is not among
// them: DDL commits by itself, so it opens none.
var beginExceptions = []exception{
	{"api/tx", "the one helper"},
	{"api/dbtest", "empties test databases"},
	{"bench", "drives peers and raw MySQL for comparison"},
	{"chaos", "faults and auditors stand outside the server"},
}

// sqlExceptions may hold SQL as text.
var sqlExceptions = []exception{
	{"sql/migrate", "reads information_schema and writes the atlas CLI's table"},
	{"api/tx", "savepoints and session checks, which sqlc drops without an error"},
	{"api/dbtest", "creates, inspects and empties test databases"},
	{"bench", "drives peers and raw MySQL for comparison"},
	{"chaos", "faults and auditors stand outside the server and trust none of its code"},
	{"cmd/orbit/devdb", "creates the database and the account of `orbit dev`"},
	{"cmd/orbit/internal/devdb", "creates the database and the account of `orbit dev`"},
}

func excepted(path string, list []exception) bool {
	for _, e := range list {
		if inside(path, e.place) || inside(path, e.place+".go") {
			return true
		}
	}
	return false
}
