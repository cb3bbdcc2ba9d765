// A server that none of the measured tools has seen, with stamps of its own as the truth.
//
// POST /v1/chat/completions answers after -service. With "stream": true it sends -tokens events, the
// first after -first and the rest every -gap. Between 5 s and 5 s + -stall after the first request
// it begins to serve nothing. GET /truth tells what was served since the last GET, in milliseconds:
// from the arrival of a request in the kernel (arrival.go) to the return of the write, or of the handler of a plain
// answer.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"sort"
	"sync"
	"time"
)

var (
	service = flag.Duration("service", 0, "time of a plain answer")
	first   = flag.Duration("first", 200*time.Millisecond, "time to the first event of a stream")
	gap     = flag.Duration("gap", 20*time.Millisecond, "time between two events of a stream")
	tokens  = flag.Int("tokens", 200, "events of a stream")
	stall   = flag.Duration("stall", 0, "how long nothing is served")
)

type truth struct {
	sync.Mutex
	began                time.Time
	last                 time.Time
	requests, done       int
	response, ttft, gaps []float64
}

var seen truth

const usage = `{"prompt_tokens":12,"completion_tokens":%d,"total_tokens":%d}`

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// begin counts a request, and returns when it arrived and until when it must wait.
func begin(r *http.Request) (arrived, until time.Time) {
	arrived = arrivalOf(r)
	seen.Lock()
	defer seen.Unlock()
	if seen.requests == 0 {
		seen.began = arrived
	}
	seen.requests++
	from, to := seen.began.Add(5*time.Second), seen.began.Add(5*time.Second+*stall)
	if arrived.After(from) && arrived.Before(to) {
		return arrived, to
	}
	return arrived, arrived
}

func end(arrived time.Time, ttft float64, gaps []float64) {
	now := time.Now()
	seen.Lock()
	defer seen.Unlock()
	seen.done++
	seen.last = now
	seen.response = append(seen.response, milliseconds(now.Sub(arrived)))
	if gaps != nil {
		seen.ttft = append(seen.ttft, ttft)
		seen.gaps = append(seen.gaps, gaps...)
	}
}

func chat(w http.ResponseWriter, r *http.Request) {
	arrived, until := begin(r)
	body, _ := io.ReadAll(r.Body)
	if bytes.Contains(body, []byte(`"stream":true`)) || bytes.Contains(body, []byte(`"stream": true`)) {
		stream(w, r, arrived, bytes.Contains(body, []byte("include_usage")))
		return
	}
	time.Sleep(time.Until(until.Add(*service)))
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"id":"c-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"An answer of plausible size."},"finish_reason":"stop"}],"usage":`+usage+`}`, 8, 20)
	end(arrived, 0, nil)
}

func stream(w http.ResponseWriter, r *http.Request, arrived time.Time, withUsage bool) {
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := w.(http.Flusher)
	chunk := func(choices, rest string) {
		fmt.Fprintf(w, "data: {\"id\":\"c-1\",\"object\":\"chat.completion.chunk\",\"created\":1700000000,\"model\":\"m\",\"choices\":[%s]%s}\n\n", choices, rest)
		flusher.Flush()
	}
	due := arrived.Add(*first)
	gaps := make([]float64, 0, *tokens)
	var ttft float64
	var before time.Time
	for at := 0; at < *tokens; at++ {
		select {
		case <-r.Context().Done():
			return
		case <-time.After(time.Until(due)):
		}
		chunk(`{"index":0,"delta":{"role":"assistant","content":" word"},"finish_reason":null}`, "")
		now := time.Now()
		if at == 0 {
			ttft = milliseconds(now.Sub(arrived))
		} else {
			gaps = append(gaps, milliseconds(now.Sub(before)))
		}
		before = now
		due = due.Add(*gap)
	}
	chunk(`{"index":0,"delta":{},"finish_reason":"stop"}`, "")
	if withUsage {
		chunk("", `,"usage":`+fmt.Sprintf(usage, *tokens, *tokens+12))
	}
	fmt.Fprint(w, "data: [DONE]\n\n")
	end(arrived, ttft, gaps)
}

func percentiles(values []float64) map[string]float64 {
	if len(values) == 0 {
		return nil
	}
	sort.Float64s(values)
	at := func(share float64) float64 {
		place := share * float64(len(values)-1)
		below := int(place)
		if below+1 == len(values) {
			return values[below]
		}
		return values[below] + (place-float64(below))*(values[below+1]-values[below])
	}
	return map[string]float64{"p50": at(0.5), "p95": at(0.95), "p99": at(0.99)}
}

func tell(w http.ResponseWriter, _ *http.Request) {
	seen.Lock()
	defer seen.Unlock()
	json.NewEncoder(w).Encode(map[string]any{
		"requests": seen.requests, "done": seen.done, "seconds": seen.last.Sub(seen.began).Seconds(),
		"response": percentiles(seen.response), "ttft": percentiles(seen.ttft), "itl": percentiles(seen.gaps),
	})
	seen.requests, seen.done = 0, 0
	seen.response, seen.ttft, seen.gaps = nil, nil, nil
}

func main() {
	flag.Parse()
	http.HandleFunc("POST /v1/chat/completions", chat)
	http.HandleFunc("GET /truth", tell)
	http.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"object":"list","data":[{"id":"m","object":"model"}]}`)
	})
	listener, err := listen("127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	server := http.Server{ConnContext: withConnection}
	panic(server.Serve(listener))
}
