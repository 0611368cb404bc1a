package exact

import "strconv"

const hexDigits = "0123456789abcdef"

// Append writes the value as compact JSON: number tokens and member order as
// they were, strings with the shortest escapes.
func (v Value) Append(dst []byte) []byte {
	switch v.kind {
	case KindNull:
		return append(dst, "null"...)
	case KindBool:
		return strconv.AppendBool(dst, v.truth)
	case KindNumber:
		return append(dst, v.text...)
	case KindString:
		return appendQuoted(dst, v.text)
	case KindArray:
		return v.appendArray(dst)
	default:
		return v.appendObject(dst)
	}
}

// String is the compact JSON text, for messages and tests.
func (v Value) String() string { return string(v.Append(nil)) }

// Size is the number of bytes Append would write. Containers remember it, so
// asking costs at most the length of one string.
func (v Value) Size() int {
	switch v.kind {
	case KindNull:
		return 4
	case KindBool:
		if v.truth {
			return 4
		}
		return 5
	case KindNumber:
		return len(v.text)
	case KindString:
		return quotedSize(v.text)
	}
	if v.tree == nil {
		return 2
	}
	return v.tree.size
}

func (v Value) appendArray(dst []byte) []byte {
	dst = append(dst, '[')
	for i, item := range v.Items() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = item.Append(dst)
	}
	return append(dst, ']')
}

func (v Value) appendObject(dst []byte) []byte {
	dst = append(dst, '{')
	for i, m := range v.Members() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendQuoted(dst, m.Name)
		dst = append(dst, ':')
		dst = m.Value.Append(dst)
	}
	return append(dst, '}')
}

// shortEscape is the letter after the backslash for bytes that have one.
var shortEscape = [256]byte{'"': '"', '\\': '\\', '\n': 'n', '\t': 't', '\r': 'r', '\b': 'b', '\f': 'f'}

func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[from:i]...)
		from = i + 1
		if e := shortEscape[c]; e != 0 {
			dst = append(dst, '\\', e)
			continue
		}
		dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
	}
	return append(append(dst, s[from:]...), '"')
}

func quotedSize(s string) int {
	size := len(s) + 2
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case shortEscape[c] != 0:
			size++
		case c < 0x20:
			size += 5
		}
	}
	return size
}
