// Package wire writes responses. encoding/json cannot serve here: it would re-space user payloads, escape "<" in them
// and trim the zeros of times. Append writes a generated model with payload bytes exactly as they were stored (O13)
// and every time in UTC with six digits. A type's shape is worked out once and cached.
package wire
