module github.com/orbitrun/orbit/sdk

go 1.26
