package expr

import (
	"github.com/orbitrun/orbit/engine/exact"
)

// path evaluates the four nodes that read a path; they differ only in what
// they do about a missing or null value.
func (e *evaluator) path(n *node) (exact.Value, *EvalError) {
	v, found, err := e.read(n)
	if err != nil {
		return exact.Value{}, err
	}
	switch {
	case n.op == opHas:
		return exact.Bool(found), nil
	case n.op == opDefault && (!found || v.IsNull()):
		return e.eval(n.kids[0])
	case !found:
		return exact.Value{}, e.failPath(ReasonPathMissing, n.path, n.path.String(), "missing")
	case n.op == opMust && v.IsNull():
		return exact.Value{}, e.failPath(ReasonPathMissing, n.path, n.path.String(), "null")
	}
	return v, nil
}

// read follows a path. Missing is what stands below null, below something
// missing, or past the end of an array; below any other wrong type is an error
// even where a default waits, because there the data is not what the author
// believes (definition.md section 4.4).
func (e *evaluator) read(n *node) (exact.Value, bool, *EvalError) {
	v, found := e.scope.root(n.path)
	for i, s := range n.path.Segments {
		if !found || v.IsNull() {
			return exact.Value{}, false, nil
		}
		want := exact.KindObject
		if s.IsIndex {
			want = exact.KindArray
		}
		if v.Kind() != want {
			return exact.Value{}, false, e.failPath(ReasonTypeMismatch, n.path, n.path.prefixes[i], v.Kind().String())
		}
		if !s.IsIndex {
			v, found = v.Get(s.Name)
			continue
		}
		if found = s.Index < v.Len(); found {
			v = v.Items()[s.Index]
		}
	}
	return v, found, nil
}

// failPath places the error at the path itself, not at the call around it.
func (e *evaluator) failPath(reason string, p *Path, path, found string) *EvalError {
	return &EvalError{Reason: reason, Pointer: e.pointer, Offset: p.at, Path: path, Found: found}
}
