package migrate

import (
	"strings"
	"unicode"
)

// repeats holds, for words that names are made of, what merely translates them.
// A comment from which all of these are removed and nothing is left explains
// nothing (O3). Longer translations stand first, so that they are removed whole.
var repeats = map[string][]string{
	"action": {"动作"}, "activation": {"激活"}, "actor": {"操作者", "操作人"}, "application": {"应用程序", "应用"},
	"at": {"时间", "时刻"}, "attempt": {"尝试"}, "attempts": {"尝试"}, "audit": {"审计"}, "business": {"业务"},
	"code": {"代码", "码"}, "count": {"数量", "计数"}, "created": {"创建"}, "credential": {"凭据", "凭证"},
	"deadline": {"截止"}, "definition": {"定义"}, "detail": {"详情", "明细"}, "digest": {"摘要"},
	"document": {"文档"}, "ended": {"结束"}, "event": {"事件"}, "expires": {"过期", "失效"}, "failure": {"失败"},
	"gate": {"门控"}, "handler": {"处理器"}, "hash": {"哈希", "摘要"}, "id": {"编号", "标识符", "标识", "主键"},
	"input": {"输入"}, "instance": {"流程实例", "实例"}, "key": {"键"}, "kind": {"种类", "类型", "类别"},
	"lease": {"租约"}, "lock": {"锁"}, "message": {"消息", "信息"}, "name": {"名称", "名字", "名"},
	"namespace": {"命名空间"}, "no": {"序号", "编号"}, "output": {"输出"}, "owner": {"所有者"}, "policy": {"策略"},
	"priority": {"优先级"}, "queue": {"队列"}, "quota": {"额度", "配额"}, "reason": {"原因"}, "receipt": {"回执"},
	"resource": {"资源"}, "result": {"结果"}, "revision": {"修订号", "修订"}, "scopes": {"范围"}, "secret": {"密钥"},
	"seq": {"序列号", "序号"}, "started": {"开始"}, "state": {"状态"}, "status": {"状态"}, "step": {"步骤"},
	"stream": {"流"}, "subject": {"对象"}, "task": {"任务"}, "token": {"令牌"}, "type": {"类型", "种类"},
	"updated": {"更新"}, "value": {"值"}, "version": {"版本号", "版本"}, "wait": {"等待"}, "worker": {"执行者", "工作者"},
	"workflow": {"工作流", "流程"},
}

// fillers carry no meaning of their own beside a translated name.
var fillers = []string{"的", "表", "列", "字段", "数据", "该", "此"}

// CommentFault says what is wrong with the COMMENT of a table or column, or "".
// name is "table" or "table.column". Three faults exist: no comment, a comment
// that is not Chinese, and one that only repeats the name (O3).
func CommentFault(name, comment string) string {
	if strings.TrimSpace(comment) == "" {
		return "has no COMMENT"
	}
	if !strings.ContainsFunc(comment, isHan) {
		return "has a COMMENT that is not Chinese"
	}
	if !strings.ContainsFunc(withoutName(name, comment), isWordPart) {
		return "has a COMMENT that only repeats the name"
	}
	return ""
}

// withoutName removes what translates the words of the name.
func withoutName(name, comment string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '_' || r == '.' })
	for _, w := range words {
		for _, translation := range repeats[w] {
			comment = strings.ReplaceAll(comment, translation, "")
		}
	}
	for _, f := range fillers {
		comment = strings.ReplaceAll(comment, f, "")
	}
	return comment
}

func isHan(r rune) bool { return unicode.Is(unicode.Han, r) }

// isWordPart tells words from punctuation: "编号，UUIDv7" says more than the name.
func isWordPart(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
