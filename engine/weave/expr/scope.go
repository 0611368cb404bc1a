package expr

import "github.com/orbitrun/orbit/engine/exact"

// Scope holds the values a template may read. A nil pointer or an absent step
// is a root that does not exist there; reading it is expression_path_missing,
// which the scope check of a definition has already excluded.
type Scope struct {
	Input    exact.Value
	Steps    map[string]exact.Value // outputs of finished steps by name
	Instance exact.Value            // see InstanceValue
	Result   *exact.Value           // only in a POLL's classify and output
	Signal   *exact.Value           // only in a final_signal
	Item     *exact.Value           // only in a MAP
	Index    int                    // beside Item
}

// InstanceValue is what the root instance holds: the id and the business key,
// null when there is none.
func InstanceValue(id string, businessKey *string) exact.Value {
	key := exact.Null()
	if businessKey != nil {
		key = exact.String(*businessKey)
	}
	return exact.Object(exact.Field("id", exact.String(id)), exact.Field("business_key", key))
}

// root finds the value a path begins at.
func (s *Scope) root(p *Path) (exact.Value, bool) {
	var at *exact.Value
	switch p.Root {
	case RootInput:
		at = &s.Input
	case RootInstance:
		at = &s.Instance
	case RootResult:
		at = s.Result
	case RootSignal:
		at = s.Signal
	case RootItem:
		at = s.Item
	case RootIndex:
		if s.Item != nil {
			return exact.Int(int64(s.Index)), true
		}
	default:
		v, ok := s.Steps[p.Step]
		return v, ok
	}
	if at == nil {
		return exact.Value{}, false
	}
	return *at, true
}
