// Fetch from all servers at once; the first failure cancels the others.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
)

type result struct {
	bytes int64
	err   error
}

func fetch(ctx context.Context, port string) (int64, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", "127.0.0.1:"+port)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		select {
		case <-ctx.Done():
			conn.Close()
		case <-stop:
		}
	}()
	return io.Copy(io.Discard, conn)
}

func main() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	results := make(chan result)
	for _, port := range os.Args[1:] {
		go func(port string) {
			bytes, err := fetch(ctx, port)
			results <- result{bytes, err}
		}(port)
	}
	var total int64
	var first error
	for range os.Args[1:] {
		r := <-results
		total += r.bytes
		if r.err != nil && first == nil {
			first = r.err
			cancel()
		}
	}
	if first != nil {
		log.Fatal(first)
	}
	fmt.Println(total)
}
