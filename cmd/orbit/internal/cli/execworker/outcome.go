package execworker

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/orbitrun/orbit/engine/exact"
	"github.com/orbitrun/orbit/gen/client"
)

// ending is how a command ended.
type ending struct {
	code      int    // exit code, −1 when a signal ended it
	signal    string // number of that signal
	stdout    []byte
	overflow  bool   // more than an output may be
	held      bool   // something below the command kept standard output open
	lastLine  string // of standard error
	cancelled bool   // a cancel was asked for
	stopped   string // why the worker stopped it, empty when it did not
}

// report is what the server is told.
type report struct {
	outcome   client.ReportOutcome
	output    []byte
	retryable bool
	failure   *client.Failure
}

// judge turns an ending into a report: the table of ExitCodes.
func judge(e ending, otherwise Otherwise) report {
	switch {
	case e.code == 0:
		return succeeded(e)
	case e.code == exitPermanent:
		return report{outcome: client.ReportOutcomeFAILED, failure: failure(e)}
	case e.code == exitRetryable:
		return report{outcome: client.ReportOutcomeFAILED, retryable: true, failure: failure(e)}
	case e.code == exitCancelled && e.cancelled:
		return report{outcome: client.ReportOutcomeCANCELLED}
	case e.stopped != "" || otherwise == Unknown:
		// What the worker itself cut off is never excused by a declaration
		// about the command's own codes.
		return report{outcome: client.ReportOutcomeUNKNOWN, failure: failure(e)}
	}
	return report{outcome: client.ReportOutcomeFAILED, retryable: otherwise == Retryable, failure: failure(e)}
}

// succeeded checks what the command printed. Its effect exists, so an output
// that cannot be kept makes the attempt UNKNOWN, not FAILED.
func succeeded(e ending) report {
	output := bytes.TrimSpace(e.stdout)
	var bad string
	switch {
	case e.held:
		bad = "the command ended and left something running that holds standard output"
	case e.overflow:
		bad = fmt.Sprintf("standard output is longer than %d bytes", exact.PayloadLimits.SizeBytesMax)
	case len(output) == 0:
		output = []byte("null")
	default:
		if _, err := exact.Parse(output, exact.PayloadLimits); err != nil {
			bad = "standard output is no JSON: " + err.Detail
		}
	}
	if bad != "" {
		return report{outcome: client.ReportOutcomeUNKNOWN, failure: &client.Failure{Code: "output_unreadable", Message: bad}}
	}
	return report{outcome: client.ReportOutcomeSUCCEEDED, output: output}
}

// failure is what the command says about itself: an object with a code on
// standard output, else its exit code and last line of standard error.
func failure(e ending) *client.Failure {
	var said client.Failure
	if json.Unmarshal(e.stdout, &said) == nil && said.Code != "" && len(said.Code) <= 64 {
		said.Message = cut(said.Message)
		if len(said.Details) > smallPayloadMax {
			said.Details = nil
		}
		return &said
	}
	f := &client.Failure{Code: fmt.Sprintf("exit_%d", e.code), Message: cut(e.lastLine)}
	if e.signal != "" {
		f.Code = "signal_" + e.signal
	}
	if e.stopped != "" {
		f.Code = e.stopped
	}
	return f
}

const (
	messageBytesMax = 1024
	smallPayloadMax = 16 << 10
)

// cut bounds a message without splitting a character.
func cut(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\x00", "\uFFFD")
	for len(s) > messageBytesMax {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:min(len(s)-size, messageBytesMax+utf8.UTFMax)]
	}
	return s
}
