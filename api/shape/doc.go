// Package shape checks request bodies and parameters against the schemas of api/openapi.yaml before anything else
// looks at them. A schema is compiled once at start into a small tree of rules; checking walks the exact JSON tree of
// the request beside it, allocates only when something is wrong, and names every field at fault by its JSON pointer.
//
// It is not a general JSON Schema validator: it knows the keywords the description uses and Compile refuses any other,
// so that a rule written into the description can never be silently ignored.
package shape
