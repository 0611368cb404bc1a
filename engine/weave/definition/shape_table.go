package definition

// The shape of schema_version 1, one line per field (definition.md §1, §2).
// Everything a person can write outside templates and contracts is here.

const (
	namePattern    = `^[a-z][a-z0-9_]{0,47}$`
	handlerPattern = `^[A-Za-z0-9._-]{1,128}$`
	versionPattern = `^[A-Za-z0-9._-]{1,64}$`
	signalPattern  = `^[a-z0-9._-]{1,64}$`
	reasonPattern  = `^[a-z0-9_]{1,64}$`
	signalVersion  = `^[A-Za-z0-9._-]{1,32}$`
)

// shapes is the table: the document, a node, a policy.
var shapes = map[string]rule{
	"document": documentShape(),
	"policy":   object(policyFields()...),
	"retry":    tagged(retryKinds, retryFields, "field_value"),
	"node":     tagged(kindNames(), nodeFields, "node_kind_unknown"),
}

func documentShape() rule {
	return object(
		need("schema_version", schemaVersion()),
		need("definition", name()),
		need("version", integer(1, 2147483647)),
		allow("description", text(0, 1024)),
		need("input_contract", nullable(name())),
		need("output_contract", nullable(name())),
		need("deadline_ms", duration()),
		need("on_failure", oneOf(string(OnFailureReview), string(OnFailureFail))),
		need("contracts", dictionary(anything(), ContractsMax, "contract_limit")),
		need("policies", dictionary(ref("policy"), PoliciesMax, "field_range")),
		need("body", body(1)),
		need("output", anything()),
	)
}

func duration() rule { return integer(1, DurationMillisecondsMax) }
func pause() rule    { return integer(0, DurationMillisecondsMax) }

func policyFields() []field {
	return []field{
		need("priority", integer(0, 9)),
		need("deadline_ms", duration()),
		need("attempt_timeout_ms", duration()),
		need("lost", oneOf(string(LostReview), string(LostRetry))),
		need("retry", ref("retry")),
	}
}

var retryKinds = []string{string(RetryFixed), string(RetryLinear), string(RetryExponential), string(RetryList)}

func retryFields(kind string) []field {
	common := []field{
		need("kind", oneOf(retryKinds...)),
		need("max_attempts", integer(1, AttemptsMax)),
		need("jitter_percent", integer(0, 50)),
	}
	return append(common, map[RetryKind][]field{
		RetryFixed:       {need("delay_ms", pause())},
		RetryLinear:      {need("delay_ms", pause()), need("step_ms", pause()), need("max_delay_ms", pause())},
		RetryExponential: {need("delay_ms", pause()), need("factor", integer(2, 10)), need("max_delay_ms", pause())},
		RetryList:        {need("delays_ms", list(pause(), 0, AttemptsMax))},
	}[RetryKind(kind)]...)
}

func nodeFields(kind string) []field {
	common := []field{
		need("name", name()),
		need("kind", oneOf(kindNames()...)),
		allow("description", text(0, 512)),
	}
	return append(common, kindFields(Kind(kind))...)
}

func kindFields(kind Kind) []field {
	switch kind {
	case KindTask:
		return append(taskFields(), allow("compensation", object(taskFields()...)))
	case KindBranch:
		return []field{
			need("cases", fan(arm(need("when", anything())), CasesMin, CasesMax)),
			need("default", arm()),
			need("output_contract", nullable(name())),
		}
	case KindParallel:
		return []field{need("branches", fan(object(need("label", text(1, 64)), need("body", body(1))), BranchesMin, BranchesMax))}
	case KindTimer:
		return []field{need("delay_ms", delay())}
	case KindSignal:
		return append(signalFields(), need("deadline_ms", duration()), need("on_expiry", expiry()))
	case KindPoll:
		return pollFields()
	case KindMap:
		return []field{
			need("items", anything()),
			need("max_items", integer(1, 1000)),
			need("max_active", integer(1, 32)),
			need("body", body(1)),
			need("item_output", anything()),
			need("item_contract", nullable(name())),
		}
	case KindChild:
		return []field{
			need("definition", name()),
			need("version", integer(1, 2147483647)),
			need("input", anything()),
			need("business_key", anything()),
			need("deadline_ms", duration()),
		}
	case KindScope:
		return []field{need("body", body(1)), need("compensation_deadline_ms", duration())}
	}
	return nil
}

func taskFields() []field {
	return []field{
		need("queue", matching(handlerPattern)),
		need("handler", matching(handlerPattern)),
		need("handler_version", matching(versionPattern)),
		need("input", anything()),
		need("input_contract", nullable(name())),
		need("output_contract", nullable(name())),
		need("policy", name()),
		need("business_key", anything()),
		need("resource_key", anything()),
	}
}

// roundFields are a task's, with an answer that must be described: classify
// reads it.
func roundFields() []field {
	fields := taskFields()
	for i := range fields {
		if fields[i].name == "output_contract" {
			fields[i].rule = name()
		}
	}
	return fields
}

func signalFields() []field {
	return []field{
		need("signal", matching(signalPattern)),
		need("signal_version", matching(signalVersion)),
		need("content_contract", nullable(name())),
		need("correlation", anything()),
	}
}

func pollFields() []field {
	return []field{
		need("task", object(roundFields()...)),
		need("interval_ms", integer(1000, PollIntervalMillisecondsMax)),
		need("max_rounds", integer(1, PollRoundsMax)),
		need("deadline_ms", duration()),
		need("classify", object(
			need("value", anything()), need("pending", scalars(1)), need("done", scalars(1)),
			need("failed", scalars(0)), need("review", scalars(0)))),
		need("output", anything()),
		need("output_contract", nullable(name())),
		need("final_signal", nullable(object(append(signalFields(),
			need("classify", object(
				need("value", anything()), need("done", scalars(1)),
				need("failed", scalars(0)), need("review", scalars(0)))),
			need("output", anything()))...))),
	}
}

func scalars(least int) rule { return list(scalar(), least, ValuesMax) }
