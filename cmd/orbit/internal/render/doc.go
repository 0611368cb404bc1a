// Package render prints results: tables and records for people, JSON for
// programs, and progress for whoever waits. Colours and cursor movements are
// used on a terminal only; what a server or a file says is cleaned of control
// characters first, because a terminal would obey them.
package render
