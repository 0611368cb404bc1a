package exact

import "strconv"

// Null is the JSON null.
func Null() Value { return Value{} }

// Bool is a JSON boolean.
func Bool(b bool) Value { return Value{kind: KindBool, truth: b} }

// String is a JSON string. The text must be valid UTF-8 without NUL; text that
// came through Parse always is.
func String(s string) Value { return Value{kind: KindString, text: s} }

// Int is a JSON number in its canonical spelling.
func Int(n int64) Value { return Value{kind: KindNumber, text: strconv.FormatInt(n, 10)} }

// Number is a JSON number with the given spelling. A token that Parse would
// refuse is a mistake of the program and panics; check foreign text with
// ValidNumber first.
func Number(token string) Value {
	if !ValidNumber(token) {
		panic("exact: not a number within the domain: " + strconv.Quote(token))
	}
	return Value{kind: KindNumber, text: token}
}

// Array is a JSON array. It keeps the slice.
func Array(items ...Value) Value {
	if len(items) == 0 {
		return Value{kind: KindArray}
	}
	t := &tree{items: items}
	t.measureArray()
	return Value{kind: KindArray, tree: t}
}

// Object is a JSON object with the members in the given order. It keeps the
// slice. A repeated name is a mistake of the program and panics.
func Object(members ...Member) Value {
	if len(members) == 0 {
		return Value{kind: KindObject}
	}
	t := &tree{}
	for _, m := range members {
		if !t.add(m) {
			panic("exact: repeated member name " + strconv.Quote(m.Name))
		}
	}
	t.measureObject()
	return Value{kind: KindObject, tree: t}
}

// Field is a Member that was built rather than read.
func Field(name string, v Value) Member { return Member{Name: name, Value: v} }

// add appends a member, or reports false when the name is already there.
func (t *tree) add(m Member) bool {
	if t.find(m.Name) >= 0 {
		return false
	}
	t.members = append(t.members, m)
	switch {
	case t.index != nil:
		t.index[m.Name] = len(t.members) - 1
	case len(t.members) > indexFrom:
		t.index = make(map[string]int, 2*len(t.members))
		for i := range t.members {
			t.index[t.members[i].Name] = i
		}
	}
	return true
}

func (t *tree) measureArray() {
	t.size, t.depth = 1+len(t.items), 1
	for _, v := range t.items {
		t.size += v.Size()
		t.depth = max(t.depth, 1+v.Depth())
	}
}

func (t *tree) measureObject() {
	t.size, t.depth = 1+2*len(t.members), 1
	for i := range t.members {
		m := &t.members[i]
		t.size += quotedSize(m.Name) + m.Value.Size()
		t.depth = max(t.depth, 1+m.Value.Depth())
	}
}
