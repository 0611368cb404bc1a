package orbit

import (
	"encoding/json"
	"fmt"
)

// batchOutcome is one item of a batch's answer.
type batchOutcome struct {
	Receipt  json.RawMessage `json:"receipt"`
	Replayed bool            `json:"replayed"`
	Problem  *Error          `json:"problem"`
}

func (o batchOutcome) settle(receipt any) error {
	if o.Problem != nil {
		return o.Problem
	}
	if err := json.Unmarshal(o.Receipt, receipt); err != nil {
		return fmt.Errorf("orbit: the receipt cannot be read: %w", err)
	}
	return nil
}
