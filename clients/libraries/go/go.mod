module aldaba.example/panel

go 1.19

require (
	github.com/coreos/go-oidc/v3 v3.9.0
	golang.org/x/oauth2 v0.13.0
)

require (
	github.com/go-jose/go-jose/v3 v3.0.1 // indirect
	github.com/golang/protobuf v1.5.3 // indirect
	golang.org/x/crypto v0.14.0 // indirect
	google.golang.org/appengine v1.6.8 // indirect
	google.golang.org/protobuf v1.31.0 // indirect
)
