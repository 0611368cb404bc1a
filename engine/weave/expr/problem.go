package expr

import "strconv"

// Problem is one finding about a template or expression at publish. Offset is
// the byte inside the expression text (what stands between ${ and }), -1 when
// the finding is about the whole string or value.
type Problem struct {
	Code    string
	Pointer string
	Offset  int
	Detail  string
	Hint    string
	Warning bool
}

// Codes of definition.md section 6 this package answers with.
const (
	CodeInterpolation   = "template_interpolation"
	CodeKeyExpression   = "template_key_expression"
	CodeOmit            = "template_omit"
	CodeNotExpression   = "condition_not_expression"
	CodeSyntax          = "expression_syntax"
	CodeLimit           = "expression_limit"
	CodeUnknownFunction = "expression_unknown_function"
	CodeArguments       = "expression_arguments"
	CodeNumberRange     = "number_range"
	CodeRoot            = "scope_root"
	CodeNotInContract   = "path_not_in_contract"
	CodeMayBeMissing    = "path_may_be_missing"
	CodeMismatch        = "type_mismatch"
	CodeMayBeNull       = "type_may_be_null"
	CodeBreaksContract  = "template_breaks_contract"
	CodeUnchecked       = "path_unchecked"     // warning
	CodeConstant        = "condition_constant" // warning
)

// Refused reports whether any finding is an error.
func Refused(problems []Problem) bool {
	for _, p := range problems {
		if !p.Warning {
			return true
		}
	}
	return false
}

// Reasons of a failed evaluation (definition.md section 4.6).
const (
	ReasonPathMissing  = "expression_path_missing"
	ReasonTypeMismatch = "expression_type_mismatch"
	ReasonNumberRange  = "expression_number_range"
	ReasonBudget       = "expression_budget"
	ReasonTooLarge     = "value_too_large"
)

// EvalError is why a template yields no value: a stable reason, the pointer of
// the string in the document, the byte inside the expression (-1 when there is
// none), the path that was read when there is one, and the type found. It
// never holds the value.
type EvalError struct {
	Reason  string
	Pointer string
	Offset  int
	Path    string
	Found   string
}

func (e *EvalError) Error() string {
	text := e.Reason + " at " + strconv.Quote(e.Pointer)
	if e.Offset >= 0 {
		text += ", byte " + strconv.Itoa(e.Offset)
	}
	if e.Path != "" {
		text += ": " + e.Path
	}
	if e.Found != "" {
		text += " is " + e.Found
	}
	return text
}
