package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// flowTag is a parsed flow:"…" tag.
type flowTag struct {
	optional, nullable, integer, closed bool
	name                                string
	rules                               []member // contract keyword and its token or array, in tag order
	enum                                []string
}

type ruleValue int

const (
	valueNumber ruleValue = iota
	valueCount
	valueScalar
	valueScalars
	valueText
)

type rule struct {
	keyword string
	value   ruleValue
	kinds   []kind
}

var (
	numbers = []kind{kindNumber, kindInteger}
	scalars = []kind{kindString, kindNumber, kindInteger, kindBool}
	objects = []kind{kindObject, kindMap}
)

// rules is every tag key with the contract keyword it prints and the JSON
// kinds it makes sense for; a rule on another kind would never apply.
var rules = map[string]rule{
	"min":              {"minimum", valueNumber, numbers},
	"max":              {"maximum", valueNumber, numbers},
	"exclusiveMinimum": {"exclusiveMinimum", valueNumber, numbers},
	"exclusiveMaximum": {"exclusiveMaximum", valueNumber, numbers},
	"multipleOf":       {"multipleOf", valueNumber, numbers},
	"minLength":        {"minLength", valueCount, []kind{kindString}},
	"maxLength":        {"maxLength", valueCount, []kind{kindString}},
	"minItems":         {"minItems", valueCount, []kind{kindList}},
	"maxItems":         {"maxItems", valueCount, []kind{kindList}},
	"minProperties":    {"minProperties", valueCount, objects},
	"maxProperties":    {"maxProperties", valueCount, objects},
	"enum":             {"enum", valueScalars, scalars},
	"const":            {"const", valueScalar, scalars},
	"pattern":          {"pattern", valueText, []kind{kindString}},
}

var countSyntax = regexp.MustCompile(`^(0|[1-9][0-9]{0,9})$`)

// parseTag reads a tag of comma separated keys. pattern takes the rest of the
// tag, because {1,3} needs its comma; so it stands last.
func parseTag(text string, k kind) (flowTag, []string) {
	var tag flowTag
	var problems []string
	for text != "" {
		var part string
		if part, text, _ = strings.Cut(text, ","); strings.HasPrefix(part, "pattern=") && text != "" {
			part, text = part+","+text, ""
		}
		if why := tag.set(strings.TrimSpace(part), k); why != "" {
			problems = append(problems, why)
		}
	}
	return tag, problems
}

func (tag *flowTag) set(part string, k kind) string {
	key, value, _ := strings.Cut(part, "=")
	flags := map[string]*bool{"optional": &tag.optional, "nullable": &tag.nullable, "integer": &tag.integer, "closed": &tag.closed}
	switch flag, isFlag := flags[key]; {
	case isFlag:
		*flag = true
		return ""
	case key == "name":
		tag.name = value
		return ""
	}
	r, known := rules[key]
	switch {
	case !known:
		return fmt.Sprintf("unknown key %q", key)
	case !slices.Contains(r.kinds, k):
		return fmt.Sprintf("%q does not apply to this type", key)
	}
	return tag.add(r, value, k)
}

func (tag *flowTag) add(r rule, text string, k kind) string {
	switch r.value {
	case valueText:
		if _, err := regexp.Compile(text); err != nil {
			return err.Error()
		}
		tag.rules = append(tag.rules, member{r.keyword, quote(text)})
		return ""
	case valueCount:
		if !countSyntax.MatchString(text) {
			return fmt.Sprintf("%s=%s is not a count", r.keyword, text)
		}
		tag.rules = append(tag.rules, member{r.keyword, token(text)})
		return ""
	case valueScalars:
		return tag.addEnum(text, k)
	}
	t, why := scalarToken(text, k)
	tag.rules = append(tag.rules, member{r.keyword, t})
	return why
}

func (tag *flowTag) addEnum(text string, k kind) string {
	var list array
	for _, item := range strings.Split(text, "|") {
		t, why := scalarToken(item, k)
		if why != "" {
			return why
		}
		list = append(list, t)
		tag.enum = append(tag.enum, string(t))
	}
	tag.rules = append(tag.rules, member{"enum", list})
	return ""
}

func scalarToken(text string, k kind) (token, string) {
	switch {
	case numeric(k) && !numberSyntax.MatchString(text):
		return null, fmt.Sprintf("%q is not a JSON number", text)
	case k == kindBool && text != "true" && text != "false":
		return null, fmt.Sprintf("%q is neither true nor false", text)
	case k == kindString:
		return quote(text), ""
	}
	return token(text), ""
}
