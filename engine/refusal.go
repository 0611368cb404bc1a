package engine

// Refusal is a named "no" with everything a caller needs to act on it. The table in api/problem turns the code
// into a status and a title; Detail says what to do next. It is a value, never a wrapped error: refusing an item
// costs the other items of its transaction nothing.
type Refusal struct {
	Code    string // stable, snake_case, documented
	Detail  string // one sentence for a person
	Field   string // JSON pointer into the item, when one field is at fault
	Limit   int64  // the limit that was met, when there is one
	Current int64  // the value that met it
	Subject string // typed id of the object that stands in the way, when there is one
}

func (r *Refusal) Error() string { return r.Code + ": " + r.Detail }

// Refuse makes a refusal of a code and a sentence.
func Refuse(code, detail string) *Refusal { return &Refusal{Code: code, Detail: detail} }

// At names the field at fault.
func (r *Refusal) At(pointer string) *Refusal { r.Field = pointer; return r }

// Over states the limit and the value that met it.
func (r *Refusal) Over(limit, current int64) *Refusal { r.Limit, r.Current = limit, current; return r }
