// A runner without an SDK: a micro service of nats.go. Usage: go run . <registration.json>
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

type registration struct {
	Executor struct{ Modules []string }
	Bus      struct {
		Servers     []string
		Credentials string
		Subjects    struct {
			Executor, Tool string
			InboxPrefix    string `json:"inbox_prefix"`
		}
	}
}

func main() {
	var own registration
	must(json.Unmarshal(got(os.ReadFile(os.Args[1])), &own))
	subjects := own.Bus.Subjects
	nc := got(nats.Connect(strings.Join(own.Bus.Servers, ","), nats.UserCredentialBytes([]byte(own.Bus.Credentials)),
		nats.CustomInboxPrefix(subjects.InboxPrefix), nats.MaxReconnects(-1)))
	service := got(micro.AddService(nc, micro.Config{Name: own.Executor.Modules[0], Version: "1.0.0", Description: "Greets people"}))
	must(service.AddEndpoint("greet", micro.HandlerFunc(greet), micro.WithEndpointSubject(subjects.Tool+".greet"),
		micro.WithEndpointMetadata(map[string]string{
			"description":    "Greets somebody by name",
			"input_schema":   `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
			"effect_profile": `{"kind":"pure","destructive":false,"effect_scope":"closed","idempotency":"intrinsic","reconciliation":"none"}`,
			"timeout_ms":     "10000",
		})))
	answer := got(nc.Request(subjects.Executor+".announce", got(json.Marshal(service.Info())), 10*time.Second))
	if answer.Header.Get("Nats-Service-Error") != "" {
		log.Fatal(string(answer.Data))
	}
	fmt.Println("serving greet")
	select {}
}

func greet(request micro.Request) {
	var input struct{ Name *string }
	if json.Unmarshal(request.Data(), &input) != nil || input.Name == nil {
		_ = request.Error("400", "name must be a string", nil)
		return
	}
	_ = request.RespondJSON(map[string]string{"content": "Hello, " + *input.Name + ", from Go"})
}

func must(err error) { got(0, err) }

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
