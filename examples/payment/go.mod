module github.com/orbitrun/orbit/examples/payment

go 1.26.0

require (
	github.com/orbitrun/orbit/orbittest v0.0.0
	github.com/orbitrun/orbit/sdk v0.0.0
)

require (
	github.com/apapsch/go-jsonmerge/v2 v2.0.0 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/oapi-codegen/runtime v1.9.0 // indirect
)

replace (
	github.com/orbitrun/orbit/orbittest => ../../orbittest
	github.com/orbitrun/orbit/sdk => ../../sdk
)
