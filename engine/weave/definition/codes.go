package definition

// Code describes one finding Check can report. Codes are stable: one may be
// split later only while the refusal itself stays (definition.md §9).
type Code struct {
	Name    string
	Phase   string
	Warning bool
	Meaning string
}

// Codes lists every finding in the order of the phases (definition.md §6).
// A test demands a story for each line, so none is here on paper only.
var Codes = []Code{
	{"text_too_large", "text", false, "the document is larger than 256 KiB"},
	{"text_encoding", "text", false, "not UTF-8, or a byte order mark, NUL or lone surrogate"},
	{"text_syntax", "text", false, "not one JSON value"},
	{"text_duplicate_key", "text", false, "an object names the same member twice"},
	{"text_depth", "text", false, "nested deeper than 64 levels"},
	{"number_range", "text", false, "a number outside the number domain"},
	{"yaml_ambiguous_scalar", "text", false, "a YAML scalar that readers take for different types"},
	{"yaml_unsupported", "text", false, "YAML beyond the subset: anchors, aliases, tags, merge keys, several documents"},

	{"schema_version_unsupported", "shape", false, "this release reads schema_version 1"},
	{"field_unknown", "shape", false, "a field the language does not have"},
	{"field_missing", "shape", false, "a required field is not written out"},
	{"field_type", "shape", false, "a field holds the wrong JSON type or spelling"},
	{"field_value", "shape", false, "a field holds a value outside its set or syntax"},
	{"field_range", "shape", false, "a number, length or count outside its bounds"},
	{"node_kind_unknown", "shape", false, "no such node kind"},
	{"node_kind_unsupported", "shape", false, "a reserved kind this release cannot run"},
	{"arm_shape", "shape", false, "an arm needs exactly one of body, fail, review"},
	{"body_empty", "shape", false, "a body that must hold at least one node"},

	{"name_syntax", "names", false, "a name outside [a-z][a-z0-9_]{0,47}"},
	{"name_reserved", "names", false, "a step named like a word of the language"},
	{"name_duplicate", "names", false, "two steps with one name"},
	{"contract_unknown", "names", false, "no such contract in this document"},
	{"policy_unknown", "names", false, "no such policy in this document"},
	{"queue_unknown", "names", false, "the application has no such queue"},
	{"contract_unused", "names", true, "a contract nothing refers to"},
	{"policy_unused", "names", true, "a policy nothing refers to"},

	{"contract_keyword", "contracts", false, "a keyword outside the contract language"},
	{"contract_pattern", "contracts", false, "a pattern outside the common syntax"},
	{"contract_contradiction", "contracts", false, "a contract no value can satisfy"},
	{"contract_limit", "contracts", false, "a contract beyond its bounds"},
	{"contract_unchecked", "contracts", true, "null where a contract could stand: any JSON passes"},

	{"template_interpolation", "expressions", false, "${ beside other text"},
	{"template_key_expression", "expressions", false, "an expression in a member name"},
	{"template_omit", "expressions", false, "omit where there is no member to leave out"},
	{"condition_not_expression", "expressions", false, "a field that takes only an expression holds something else"},
	{"expression_syntax", "expressions", false, "not an expression of the grammar"},
	{"expression_limit", "expressions", false, "an expression beyond its bounds"},
	{"expression_unknown_function", "expressions", false, "no such function"},
	{"expression_arguments", "expressions", false, "a function called with the wrong arguments"},

	{"scope_unknown_step", "scope", false, "no step of this name"},
	{"scope_forward", "scope", false, "the step runs later"},
	{"scope_self", "scope", false, "a step reads its own output"},
	{"scope_sibling", "scope", false, "the step runs in a sibling that may not have finished"},
	{"scope_branch_arm", "scope", false, "the step runs only when its arm is chosen"},
	{"scope_no_output", "scope", false, "the step has no output"},
	{"scope_root", "scope", false, "a root that does not exist here"},

	{"path_not_in_contract", "types", false, "the contract declares no such member"},
	{"path_may_be_missing", "types", false, "an optional member read without a guard"},
	{"type_mismatch", "types", false, "a value of the wrong type"},
	{"type_may_be_null", "types", false, "a value that may be null"},
	{"template_breaks_contract", "types", false, "the template cannot satisfy its contract"},
	{"path_unchecked", "types", true, "a read nothing declares, checked only at run time"},
	{"condition_constant", "types", true, "a condition that is always the same"},

	{"branch_output_partial", "limits", false, "some arms have an output and some do not"},
	{"poll_values_overlap", "limits", false, "one value classified twice"},
	{"poll_value_not_in_contract", "limits", false, "a listed value the contract excludes"},
	{"retry_attempts_mismatch", "limits", false, "delays_ms needs max_attempts − 1 items"},
	{"deadline_order", "limits", false, "an attempt may last longer than its task"},
	{"timer_over_deadline", "limits", false, "a timer as long as the instance may live"},
	{"deadline_unreachable", "limits", false, "the literal delays add up to more than the deadline"},
	{"limit_nodes", "limits", false, "more than 256 nodes"},
	{"limit_nesting", "limits", false, "nodes nested deeper than 8 levels"},
	{"limit_branches", "limits", false, "too few or too many branches or cases"},
	{"limit_queues", "limits", false, "more than 32 distinct queues"},
	{"poll_value_unlisted", "limits", true, "a value of the contract no list names"},
	{"poll_rounds_unreachable", "limits", true, "the deadline ends before max_rounds"},

	{"child_version_unknown", "publish", false, "the named child version is not published"},
}

// warnings holds the codes that never block.
var warnings = func() map[string]bool {
	found := map[string]bool{}
	for _, code := range Codes {
		found[code.Name] = code.Warning
	}
	return found
}()
