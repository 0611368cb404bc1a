package shape

import (
	"fmt"
	"regexp"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/orbitrun/orbit/engine/exact"
)

var kinds = map[string]exact.Kind{
	"boolean": exact.KindBool, "integer": exact.KindNumber, "string": exact.KindString,
	"array": exact.KindArray, "object": exact.KindObject,
}

// Compile turns a schema of the description into rules. It refuses keywords it would not enforce.
func Compile(ref *openapi3.SchemaRef) (*Node, error) {
	s := ref.Value
	if err := unsupported(s); err != nil {
		return nil, err
	}
	n := &Node{payloadMax: extension(s, "x-orbit-payload"), bytesMax: extension(s, "x-orbit-max-bytes")}
	n.perItem, _ = s.Extensions["x-orbit-per-item"].(bool)
	if s.Type == nil {
		n.any = true
		return n, nil
	}
	kind, ok := kinds[s.Type.Slice()[0]]
	if !ok {
		return nil, fmt.Errorf("type %v is not used in requests", s.Type.Slice())
	}
	n.kind, n.integer = kind, s.Type.Is("integer")
	if err := n.text(s); err != nil {
		return nil, err
	}
	n.number(s)
	return n, n.containers(s)
}

func unsupported(s *openapi3.Schema) error {
	switch {
	case len(s.OneOf)+len(s.AnyOf)+len(s.AllOf) > 0 || s.Not != nil:
		return fmt.Errorf("combinators are not used in requests")
	case s.MultipleOf != nil || s.MinProps > 0 || s.MaxProps != nil || s.Nullable:
		return fmt.Errorf("multipleOf, minProperties, maxProperties and nullable are not used in requests")
	}
	return nil
}

func extension(s *openapi3.Schema, name string) int {
	switch v := s.Extensions[name].(type) {
	case float64:
		return int(v)
	case int:
		return v
	case uint64:
		return int(v)
	}
	return 0
}

func (n *Node) text(s *openapi3.Schema) error {
	for _, v := range s.Enum {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("enum value %v is not a string", v)
		}
		n.enum = append(n.enum, text)
	}
	n.lenMin = int(s.MinLength)
	if s.MaxLength != nil {
		n.lenMax = int(*s.MaxLength)
	}
	n.time, n.id = s.Format == "date-time", s.Format == "orbit-id"
	if s.Pattern == "" {
		return nil
	}
	var err error
	n.pattern, err = regexp.Compile(s.Pattern)
	return err
}

func (n *Node) number(s *openapi3.Schema) {
	bound := func(f *float64) *int64 {
		if f == nil {
			return nil
		}
		v := int64(*f)
		return &v
	}
	n.numberMin, n.numberMax = bound(s.Min), bound(s.Max)
}

func (n *Node) containers(s *openapi3.Schema) error {
	n.required, n.unique = s.Required, s.UniqueItems
	n.itemsMin = int(s.MinItems)
	if s.MaxItems != nil {
		n.itemsMax = int(*s.MaxItems)
	}
	if s.Items != nil {
		items, err := Compile(s.Items)
		if err != nil {
			return fmt.Errorf("items: %w", err)
		}
		n.items = items
	}
	if n.kind != exact.KindObject {
		return nil
	}
	if has := s.AdditionalProperties.Has; has == nil || *has {
		return fmt.Errorf("a request object must say additionalProperties: false")
	}
	n.members = make(map[string]*Node, len(s.Properties))
	for name, property := range s.Properties {
		member, err := Compile(property)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n.members[name] = member
	}
	return nil
}
