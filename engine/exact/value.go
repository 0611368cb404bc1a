package exact

// Kind is one of the six kinds of JSON value.
type Kind uint8

// The kinds. The zero Value is null.
const (
	KindNull Kind = iota
	KindBool
	KindNumber
	KindString
	KindArray
	KindObject
)

var kindNames = [...]string{"null", "boolean", "number", "string", "array", "object"}

// String gives the name the definition language uses: null, boolean, number,
// string, array or object.
func (k Kind) String() string { return kindNames[k] }

// Value is one immutable JSON value. Copying a Value is cheap; the tree below
// it is shared.
type Value struct {
	kind   Kind
	truth  bool
	offset int
	text   string // string content, or the number token as written
	tree   *tree  // children of a non-empty array or object
}

// tree holds the children of one array or object with the two measures every
// limit check asks for, so that asking costs nothing.
type tree struct {
	items   []Value
	members []Member
	index   map[string]int // only beyond indexFrom members
	size    int            // bytes of Append
	depth   int            // containers on the deepest path, itself included
}

// indexFrom is the number of members from which a map beats looking at each.
const indexFrom = 12

// Member is one name and value of an object, in the order of the text.
type Member struct {
	Name       string
	NameOffset int
	Value
}

// Kind reports what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.kind == KindNull }

// Bool is the truth of a boolean; false for any other kind.
func (v Value) Bool() bool { return v.truth }

// Token is a number exactly as it was written; empty for any other kind.
func (v Value) Token() string {
	if v.kind != KindNumber {
		return ""
	}
	return v.text
}

// Str is the content of a string; empty for any other kind.
func (v Value) Str() string {
	if v.kind != KindString {
		return ""
	}
	return v.text
}

// Items are the elements of an array. The caller must not change the slice.
func (v Value) Items() []Value {
	if v.kind != KindArray || v.tree == nil {
		return nil
	}
	return v.tree.items
}

// Members are the members of an object in the order of the text. The caller
// must not change the slice.
func (v Value) Members() []Member {
	if v.kind != KindObject || v.tree == nil {
		return nil
	}
	return v.tree.members
}

// Len counts items or members; zero for scalars.
func (v Value) Len() int {
	if v.tree == nil {
		return 0
	}
	return len(v.tree.items) + len(v.tree.members)
}

// Get finds a member of an object by name.
func (v Value) Get(name string) (Value, bool) {
	if v.kind != KindObject || v.tree == nil {
		return Value{}, false
	}
	at := v.tree.find(name)
	if at < 0 {
		return Value{}, false
	}
	return v.tree.members[at].Value, true
}

// Offset is the byte at which the value began in its text; zero for a value
// that was built.
func (v Value) Offset() int { return v.offset }

// Depth counts the containers on the deepest path: 0 for a scalar, 1 for [].
func (v Value) Depth() int {
	if v.tree != nil {
		return v.tree.depth
	}
	if v.kind >= KindArray {
		return 1
	}
	return 0
}

func (t *tree) find(name string) int {
	if t.index != nil {
		if at, ok := t.index[name]; ok {
			return at
		}
		return -1
	}
	for i := range t.members {
		if t.members[i].Name == name {
			return i
		}
	}
	return -1
}
