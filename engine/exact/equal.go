package exact

// Equal compares two values the way JSON Schema does: numbers by value,
// objects without regard to member order.
func Equal(a, b Value) bool {
	if a.kind != b.kind || a.Len() != b.Len() {
		return false
	}
	switch a.kind {
	case KindNumber:
		return a.text == b.text || DecimalOf(a).Cmp(DecimalOf(b)) == 0
	case KindArray:
		for i, item := range a.Items() {
			if !Equal(item, b.tree.items[i]) {
				return false
			}
		}
	case KindObject:
		for _, m := range a.Members() {
			other, ok := b.Get(m.Name)
			if !ok || !Equal(m.Value, other) {
				return false
			}
		}
	}
	return a.truth == b.truth && (a.kind != KindString || a.text == b.text)
}

// Same compares two values token by token: 1 and 1.0 differ, member order does
// not matter. It agrees with Digest.
func Same(a, b Value) bool {
	if a.kind != b.kind || a.Len() != b.Len() || a.truth != b.truth || a.text != b.text {
		return false
	}
	for i, item := range a.Items() {
		if !Same(item, b.tree.items[i]) {
			return false
		}
	}
	for _, m := range a.Members() {
		other, ok := b.Get(m.Name)
		if !ok || !Same(m.Value, other) {
			return false
		}
	}
	return true
}
