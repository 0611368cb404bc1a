// Package proxy stands between a program and MySQL and breaks the connection exactly where it is told to.
//
//	p, err := proxy.New("127.0.0.1:3306")
//	p.SetRule(proxy.Rule{Match: proxy.Commit, When: proxy.Answered, Do: proxy.Cut, Times: 1})
//	db, err := sql.Open("mysql", "user:pw@tcp("+p.Addr()+")/orbit")
//
// The kernel of a test machine often has no netem, and netem could not find a COMMIT anyway. The proxy reads the
// command phase of the protocol: it sees every statement before the server does, and the first packet of its answer
// before the client does. Those two moments are all that matters for a commit: cut before the first and nothing was
// committed, cut between them and everything was, while the client gets the same error in both cases.
//
// It removes TLS, compression and query attributes from the server's greeting, so that statements stay readable; a
// client that insists on one of them refuses to connect. Statements of prepared execution are known by the text they
// were prepared with. Clients must not pipeline commands; database drivers do not.
package proxy
