package node

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/orbitrun/orbit/api/tx"
)

// adminHandler serves metrics, and the time where it can be moved.
func (n *Node) adminHandler() http.Handler {
	admin := n.metrics.Admin(n.opt.Profiler)
	if n.opt.Shift == nil {
		return admin
	}
	mux := http.NewServeMux()
	mux.Handle("/", admin)
	mux.HandleFunc("GET /time", n.showTime)
	mux.HandleFunc("POST /time", n.moveTime)
	return mux
}

// movedTime is the time as the node's database tells it now.
type movedTime struct {
	Now       time.Time `json:"now"`
	ShiftedMS int64     `json:"shifted_ms"`
}

func (n *Node) showTime(w http.ResponseWriter, r *http.Request) {
	now, err := tx.ServerTime(r.Context(), n.reader)
	if err != nil {
		http.Error(w, "the database does not answer", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(movedTime{now, n.opt.Shift.By().Milliseconds()}) // the caller is gone
}

// moveTime takes {"advance_ms": n}. What became due is looked for at once, retention included.
func (n *Node) moveTime(w http.ResponseWriter, r *http.Request) {
	var body struct {
		AdvanceMS int64 `json:"advance_ms"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1024)).Decode(&body)
	if most := (100 * 365 * 24 * time.Hour).Milliseconds(); err != nil || body.AdvanceMS < 0 || body.AdvanceMS > most {
		http.Error(w, fmt.Sprintf(`send {"advance_ms": n} with 0 to %d`, most), http.StatusBadRequest)
		return
	}
	if err := n.opt.Shift.Advance(time.Duration(body.AdvanceMS) * time.Millisecond); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	n.runner.TimeMoved()
	if err := n.keeper.Sweep(r.Context()); err != nil {
		n.opt.Log.Warn("retention failed after the time was moved", "error", err)
	}
	n.showTime(w, r)
}
