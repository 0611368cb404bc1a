package exact

import "strconv"

// Codes of a refused text (definition.md section 6, group "text").
const (
	CodeSyntax       = "text_syntax"
	CodeDuplicateKey = "text_duplicate_key"
	CodeDepth        = "text_depth"
	CodeEncoding     = "text_encoding"
	CodeTooLarge     = "text_too_large"
	CodeNumberRange  = "number_range"
)

// Error says why a text was refused: a stable code, the JSON pointer of the
// innermost value that was being read, the byte offset in the text, and one
// sentence. The sentence never repeats the user's values.
type Error struct {
	Code    string
	Pointer string
	Offset  int
	Detail  string

	segments []string // innermost first, until Parse joins them
}

func (e *Error) Error() string {
	return e.Code + " at " + strconv.Quote(e.Pointer) + ", byte " + strconv.Itoa(e.Offset) + ": " + e.Detail
}

// Limits bound one text.
type Limits struct {
	SizeBytesMax int // bytes of the whole text
	DepthMax     int // containers inside one another; 0 admits scalars only
}

// PayloadLimits bound a task input or output, a signal's content and a
// definition: 256 KiB and 64 levels (definition.md section 1).
var PayloadLimits = Limits{SizeBytesMax: 256 << 10, DepthMax: 64}
