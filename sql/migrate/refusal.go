package migrate

// Refusal is a "no" with a stable snake_case code and one sentence that says
// what was found and what to do next. Check, Apply and Verify return it for
// everything that is a fact about the database or the files rather than trouble
// in reaching them.
type Refusal struct {
	Code   string
	Detail string
}

func (r *Refusal) Error() string { return r.Detail }
