package exact

import "strconv"

// Key is the same text for values that are Equal and different for all others,
// so that a set of values can be a map.
func Key(v Value) string { return string(appendKey(nil, v)) }

// appendKey is injective for the reason the digest's encoding is: every part
// says its kind and its length first.
func appendKey(dst []byte, v Value) []byte {
	switch v.kind {
	case KindNumber:
		return appendSized(dst, '#', DecimalOf(v).String())
	case KindString:
		return appendSized(dst, '"', v.text)
	case KindArray:
		dst = appendCount(dst, '[', v.Len())
		for _, item := range v.Items() {
			dst = appendKey(dst, item)
		}
		return dst
	case KindObject:
		dst = appendCount(dst, '{', v.Len())
		for _, m := range sorted(v.Members()) {
			dst = appendKey(appendSized(dst, '"', m.Name), m.Value)
		}
		return dst
	}
	return v.Append(dst)
}

func appendSized(dst []byte, mark byte, s string) []byte {
	return append(appendCount(dst, mark, len(s)), s...)
}

func appendCount(dst []byte, mark byte, n int) []byte {
	return append(strconv.AppendInt(append(dst, mark), int64(n), 10), ':')
}

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
