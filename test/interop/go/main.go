// Reads answers of the services protocol, one JSON text a line, into the types of nats.go, which must hold all that an
// answer says; tells for each line what is wrong with it. With "schemas" it prints those that the nats command checks by.
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	"github.com/nats-io/jsm.go/schemas"
	"github.com/nats-io/nats.go/micro"
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "schemas" {
		all := map[string]json.RawMessage{}
		for _, verb := range []string{"ping", "info", "stats"} {
			schema, err := schemas.Load("micro/v1/" + verb + "_response.json")
			if err != nil {
				panic(err)
			}
			all[verb] = schema
		}
		_ = json.NewEncoder(os.Stdout).Encode(all)
		return
	}
	lines := bufio.NewReaderSize(os.Stdin, 4<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		fmt.Printf("%q\n", fault(line))
	}
}

func fault(answer []byte) string {
	var kind struct{ Type string }
	if err := json.Unmarshal(answer, &kind); err != nil {
		return err.Error()
	}
	known := map[string]any{
		micro.PingResponseType:  &micro.Ping{},
		micro.InfoResponseType:  &micro.Info{},
		micro.StatsResponseType: &micro.Stats{},
	}
	value, found := known[kind.Type]
	if !found {
		return "unknown type " + kind.Type
	}
	decoder := json.NewDecoder(bytes.NewReader(answer))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return err.Error()
	}
	return ""
}
