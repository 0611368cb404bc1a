package definition

// Bounds of one document (definition.md §1). They exist so that a plan stays
// short, a transaction stays bounded and a picture still fits a page.
const (
	DurationMillisecondsMax     = 31_622_400_000 // 366 days
	NodesMax                    = 256            // Start writes all steps in one transaction
	NestingMax                  = 8              // deeper is a CHILD
	BranchesMin                 = 2
	BranchesMax                 = 32 // one plan makes at most 32 changes
	CasesMin                    = 1
	CasesMax                    = 32
	QueuesMax                   = 32 // all are locked in order at start
	ContractsMax                = 64
	PoliciesMax                 = 32
	AttemptsMax                 = 100
	ValuesMax                   = 256 // like an enum of a contract
	PollRoundsMax               = 1000
	PollIntervalMillisecondsMax = 86_400_000 // 24 hours
	ExpressionsMax              = 2048
	KeyBytesMax                 = 255 // business and resource keys
	CorrelationBytesMax         = 512
	ProblemsMax                 = 100
)
