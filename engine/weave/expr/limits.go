package expr

// Bounds of one expression and one template (definition.md sections 1 and
// 4.6). They keep a plan short; a benchmark holds them.
const (
	ExpressionBytesMax = 1024
	NodesMax           = 128 // a constant list is one node
	DepthMax           = 16  // parentheses, calls, signs, arms and ?? inside one another
	ListMax            = 64  // values of a constant list
	ArgumentsMax       = 16
	IndexMax           = 9999

	// BudgetMax is the budget of one template: 1 unit per syntax node and 1
	// per byte compared or built.
	BudgetMax = 1 << 20

	// ValueBytesMax and ValueDepthMax bound one resolved value, the same as a
	// task payload.
	ValueBytesMax = 256 << 10
	ValueDepthMax = 64
)
