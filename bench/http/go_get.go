// go_get URL-PREFIX COUNT CONNECTIONS - makes COUNT small GET requests with Go's net/http.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
)

var client *http.Client

func get(url string) {
	response, err := client.Get(url)
	if err == nil && response.StatusCode != 200 {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_get:", err)
		os.Exit(1)
	}
}

func main() {
	prefix := os.Args[1]
	count, _ := strconv.ParseInt(os.Args[2], 10, 64)
	connections, _ := strconv.Atoi(os.Args[3])
	client = &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: connections, MaxConnsPerHost: connections}}
	var next int64
	var workers sync.WaitGroup
	for i := 0; i < connections; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for n := atomic.AddInt64(&next, 1); n <= count; n = atomic.AddInt64(&next, 1) {
				get(fmt.Sprintf("%sp%d.html", prefix, n-1))
			}
		}()
	}
	workers.Wait()
}
