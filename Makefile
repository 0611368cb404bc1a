# Entry points of Orbit. `make help` lists them. Needs Go 1.26, bash, curl and Linux; a database is found or fetched by
# scripts/db.sh. Nothing else is installed: pinned tools are built once into the user's cache by tools/tool.sh.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

# Code and packages come from this checkout and its go.sum, never from a workspace around it.
export GOWORK := off
BINARY := bin/orbit

.PHONY: help
help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

## Code ---------------------------------------------------------------------------------------------------------------

.PHONY: gen
gen: ## Generate: SQL methods (sqlc), server and clients (oapi-codegen), printed tables of docs/
	tools/tool.sh sqlc generate
	tools/tool.sh oapi-codegen -config gen/http.cfg.yaml api/openapi.yaml
	tools/tool.sh oapi-codegen -config gen/client.cfg.yaml api/openapi.yaml
	tools/tool.sh oapi-codegen -config sdk/internal/rest.cfg.yaml api/openapi.yaml
	go test ./docs -run TestPrintedTables -count=1 -update

.PHONY: gen-check
gen-check: ## Generate again and fail when a committed file changes
	tools/gen-check.sh

.PHONY: build
build: ## Build bin/orbit
	CGO_ENABLED=0 go build -trimpath -o $(BINARY) ./cmd/orbit

.PHONY: fmt
fmt: ## Format all Go code
	gofmt -s -w $$(git ls-files '*.go' ':!gen' ':!sdk/internal/rest')

.PHONY: tools
tools: ## Build every pinned tool into the cache (first use does it as well)
	for t in sqlc oapi-codegen gotestsum golangci-lint govulncheck; do tools/tool.sh $$t --path; done

## Checks -------------------------------------------------------------------------------------------------------------

.PHONY: vet
vet: ## go vet in every module
	tools/each.sh go vet ./...

.PHONY: rules
rules: ## House rules of SQL and Go; schema, migrations and their seal agree
	go run ./cmd/rules
	tools/with-db.sh bash -c 'go run ./cmd/orbit migrate verify --files-only --dev-url "$$ORBIT_DB_ADDRESS"'

.PHONY: lint
lint: ## golangci-lint in every module, import floors included
	tools/each.sh "$$(tools/tool.sh golangci-lint --path)" run --config "$(CURDIR)/.golangci.yml"

.PHONY: vuln
vuln: ## Known vulnerabilities in what is called (needs the network)
	tools/each.sh "$$(tools/tool.sh govulncheck --path)" ./...

.PHONY: test
test: ## All tests of all modules, on a real MySQL that is started and stopped here
	tools/test.sh

.PHONY: test-mariadb
test-mariadb: ## The same tests on MariaDB, started and stopped here
	tools/test-mariadb.sh

# What `make integration` proves beside killed processes, inside one process each: crash points (C5), faults (C6, C21), lock
# order (C23), plans (C24), fairness (C25), schedules (C39, C40), equal keys (C45), interleavings (C46), models (C43).
PROOFS := EveryFault|C23|C24|C46|TwoNodesClaimNothingTwice|TwelveZones|DowntimeByMisfire|TwoRunnersFire|CancelMeets|Equal|ACommit|AnIndependentModel

.PHONY: integration
integration: build ## Real processes, killed, and every proof that prints a figure
	ORBIT_BINARY="$(CURDIR)/$(BINARY)" ORBIT_TEST_REPORT=build/integration ORBIT_TEST_TIMEOUT=$${ORBIT_TEST_TIMEOUT:-30m} tools/test.sh --only . -tags integration -count=1 ./integration/...
	ORBIT_BINARY="$(CURDIR)/$(BINARY)" ORBIT_TEST_REPORT=build/proofs tools/test.sh --only . -count=1 -run '$(PROOFS)' ./api/... ./engine/...
	tools/figures.sh build/integration.json build/proofs.json

.PHONY: chaos
chaos: build ## Kills and broken links, many times over; every figure is printed (ORBIT_CHAOS_FACTOR, default 10)
	ORBIT_CHAOS_FACTOR=$${ORBIT_CHAOS_FACTOR:-10} ORBIT_STREAM_RESULTS=$${ORBIT_STREAM_RESULTS:-100000} ORBIT_TEST_TIMEOUT=6h ORBIT_BINARY="$(CURDIR)/$(BINARY)" ORBIT_TEST_FORMAT=standard-verbose \
		ORBIT_TEST_REPORT=build/chaos tools/test.sh --only . -tags integration -count=1 -run 'KilledAgain|LinkFails|C22|StreamUnder' -v ./integration/...

## Run ----------------------------------------------------------------------------------------------------------------

.PHONY: run
run: build ## A node with its own private database: orbit dev
	ORBIT_BINARY="$(CURDIR)/$(BINARY)" scripts/run.sh

.PHONY: demo
demo: build ## The main job end to end: convert files with tasks and a workflow
	ORBIT_BINARY="$(CURDIR)/$(BINARY)" scripts/demo.sh

.PHONY: bench
bench: build ## Benchmarks against a node on a durable MySQL, both started and stopped here
	ORBIT_BINARY="$(CURDIR)/$(BINARY)" tools/bench.sh

.PHONY: clean
clean: ## Remove what the targets wrote into the checkout
	rm -rf bin build
