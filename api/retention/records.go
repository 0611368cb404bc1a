package retention

import (
	"context"
	"strings"

	"github.com/orbitrun/orbit/engine"
	"github.com/orbitrun/orbit/gen/db"

	"github.com/orbitrun/orbit/api/store"
	"github.com/orbitrun/orbit/api/tx"
)

// receipts looks at a page of receipts behind the cursor and deletes those whose time is over and whose subject has
// ended; what was published keeps its receipt. After the last page the cursor returns to the beginning.
func receipts(ctx context.Context, p *purge) (bool, error) {
	if p.set.Receipts == 0 {
		return false, nil
	}
	r := &p.row
	rows, err := p.Queries().ListReceiptPage(ctx, db.ListReceiptPageParams{
		NamespaceID: p.Namespace(), ApplicationID: r.ReceiptApplication, Kind: r.ReceiptKind, ReceiptKey: r.ReceiptKey, Limit: receiptsMax,
	})
	if err != nil {
		return false, err
	}
	before := p.before(p.set.Receipts)
	gone := map[[2]uint64][][]byte{} // by application and kind
	for i := range rows {
		if rows[i].CreatedAt.Before(before) && rows[i].Needed == 0 {
			group := [2]uint64{rows[i].ApplicationID, uint64(rows[i].Kind)}
			gone[group] = append(gone[group], rows[i].ReceiptKey)
		}
	}
	r.ReceiptApplication, r.ReceiptKind, r.ReceiptKey = 0, 0, []byte{}
	if len(rows) == receiptsMax {
		last := &rows[len(rows)-1]
		r.ReceiptApplication, r.ReceiptKind, r.ReceiptKey = last.ApplicationID, last.Kind, last.ReceiptKey
	}
	for group, keys := range gone {
		n, err := p.Queries().DeleteReceipts(ctx, db.DeleteReceiptsParams{NamespaceID: p.Namespace(), ApplicationID: group[0], Kind: uint8(group[1]), ReceiptKeys: keys, BeforeAt: before})
		if err := tx.Affected(n, err)(len(keys)); err != nil {
			return false, err
		}
		r.ReceiptsRemoved, p.removed = r.ReceiptsRemoved+uint64(len(keys)), p.removed+len(keys)
	}
	return len(rows) == receiptsMax, nil
}

// audits deletes a page of old records, except those about something that is still open: a signal is checked against
// its record when it is applied, and a reviewer reads what happened to the task.
func audits(ctx context.Context, p *purge) (bool, error) {
	if p.set.Audit == 0 {
		return false, nil
	}
	rows, err := p.Queries().ListAuditPage(ctx, db.ListAuditPageParams{NamespaceID: p.Namespace(), AuditID: p.row.AuditAfter, Limit: auditMax})
	if err != nil {
		return false, err
	}
	before, n := p.before(p.set.Audit), 0
	for n < len(rows) && rows[n].At.Before(before) {
		n++
	}
	rows = rows[:n]
	open, err := p.open(ctx, rows)
	if err != nil {
		return false, err
	}
	var gone [][]byte
	for i := range rows {
		if !open[string(rows[i].Subject)] {
			gone = append(gone, rows[i].AuditID)
		}
	}
	p.row.AuditAfter = make([]byte, 16) // the next sweep begins again with what was still needed
	if n == auditMax {
		p.row.AuditAfter = rows[n-1].AuditID
	}
	p.row.AuditRemoved, p.removed = p.row.AuditRemoved+uint64(len(gone)), len(gone)
	if len(gone) == 0 {
		return n == auditMax, nil
	}
	deleted, err := p.Queries().DeleteAudit(ctx, db.DeleteAuditParams{NamespaceID: p.Namespace(), AuditIds: gone})
	return n == auditMax, tx.Affected(deleted, err)(len(gone))
}

// open says which subjects are tasks or instances that have not ended.
func (p *purge) open(ctx context.Context, rows []db.ListAuditPageRow) (map[string]bool, error) {
	named := map[string][]engine.ID{}
	for i := range rows {
		prefix, _, _ := strings.Cut(string(rows[i].Subject), "_")
		if id, ok := engine.ParseID(prefix, string(rows[i].Subject)); ok {
			named[prefix] = append(named[prefix], id)
		}
	}
	open := map[string]bool{}
	note := func(prefix string, ids [][]byte) {
		for _, id := range ids {
			open[store.ID(id).Text(prefix)] = true
		}
	}
	if ids := named["task"]; len(ids) > 0 {
		tasks, err := p.Queries().ListOpenAmong(ctx, db.ListOpenAmongParams{NamespaceID: p.Namespace(), TaskIds: store.Bytes(ids)})
		if err != nil {
			return nil, err
		}
		note("task", tasks)
	}
	if ids := named["inst"]; len(ids) > 0 {
		instances, err := p.Queries().ListOpenInstancesAmong(ctx, db.ListOpenInstancesAmongParams{NamespaceID: p.Namespace(), InstanceIds: store.Bytes(ids)})
		if err != nil {
			return nil, err
		}
		note("inst", instances)
	}
	return open, nil
}

// bulks deletes bulk operations that ended before the time of the audit is over: like it they say what an operator did.
// An operation with many tasks goes in pages, its own row last.
func bulks(ctx context.Context, p *purge) (bool, error) {
	if p.set.Audit == 0 {
		return false, nil
	}
	before := p.before(p.set.Audit)
	old, err := p.Queries().ListOldBulkOperations(ctx, db.ListOldBulkOperationsParams{NamespaceID: p.Namespace(), EndedBefore: &before, Limit: 1})
	if err != nil || len(old) == 0 {
		return false, err
	}
	n, err := p.Queries().DeleteBulkItems(ctx, db.DeleteBulkItemsParams{NamespaceID: p.Namespace(), OperationID: old[0], Limit: itemsMax})
	if p.removed = int(n); err != nil || n == itemsMax {
		return true, err
	}
	p.removed++
	gone, err := p.Queries().DeleteBulkOperation(ctx, db.DeleteBulkOperationParams{NamespaceID: p.Namespace(), OperationID: old[0]})
	return true, tx.Affected(gone, err)(1)
}
