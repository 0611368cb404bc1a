package contract

// Bounds of one contract (definition.md section 1). They keep validation
// linear in the data and messages readable.
const (
	DepthMax            = 16  // contracts inside one another
	PropertiesMax       = 256 // of one object
	EnumMax             = 256
	DescriptionRunesMax = 512
	PatternBytesMax     = 256
	PatternRepeatMax    = 256
	// PatternStatesMax bounds a pattern after its counted repetitions are
	// written out; RE2 does that, and its time is text times states.
	PatternStatesMax = 1000
	// CountMax bounds lengths and counts, far beyond what a payload can hold.
	CountMax = 1 << 30
	// ViolationsMax is how many faults of one value are listed.
	ViolationsMax = 16
)
