// A runner without an SDK: a micro service of nats.go. Usage: go run . <registration.json>
package main

import (
	"encoding/json"
	"log"
	"os"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
)

func main() {
	var own struct {
		Executor struct{ Modules []string }
		Bus      struct {
			Servers     []string
			Credentials string
			Subjects    map[string]string
		}
	}
	check(json.Unmarshal(got(os.ReadFile(os.Args[1])), &own))
	bus := own.Bus
	nc := got(nats.Connect(strings.Join(bus.Servers, ","), nats.UserCredentialBytes([]byte(bus.Credentials)),
		nats.CustomInboxPrefix(bus.Subjects["inbox_prefix"]), nats.MaxReconnects(-1)))
	service := got(micro.AddService(nc, micro.Config{Name: own.Executor.Modules[0], Version: "1.0.0", Description: "Greets people"}))
	check(service.AddEndpoint("greet", micro.HandlerFunc(greet), micro.WithEndpointSubject(bus.Subjects["tool"]+".greet"),
		micro.WithEndpointMetadata(map[string]string{
			"description":    "Greets somebody by name",
			"input_schema":   `{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`,
			"effect_profile": `{"kind":"pure","destructive":false,"effect_scope":"closed","idempotency":"intrinsic","reconciliation":"none"}`,
		})))
	answer := got(nc.Request(bus.Subjects["executor"]+".announce", got(json.Marshal(service.Info())), 10*time.Second))
	if answer.Header.Get(micro.ErrorHeader) != "" {
		log.Fatal(string(answer.Data))
	}
	log.Println("serving greet")
	select {}
}

func greet(request micro.Request) {
	var input struct{ Name string }
	if json.Unmarshal(request.Data(), &input) != nil || input.Name == "" {
		check(request.Error("400", "name must be a string", nil))
	} else {
		check(request.RespondJSON(map[string]string{"content": "Hello, " + input.Name + ", from Go"}))
	}
}

func check(err error) { got(0, err) }

func got[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}
