// go_names - Go's own resolver, 100 goroutines.
//
// go_names SERVER N: prints the microseconds for each name.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

func main() {
	server := os.Args[1]
	n, _ := strconv.Atoi(os.Args[2])
	resolver := &net.Resolver{PreferGo: true,
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, network, server)
		}}
	var next, failures int64
	var all sync.WaitGroup
	before := time.Now()
	for i := 0; i < 100; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for {
				k := atomic.AddInt64(&next, 1)
				if k > int64(n) {
					return
				}
				name := fmt.Sprintf("host%d.bench.", k)
				if _, err := resolver.LookupIP(context.Background(), "ip4", name); err != nil {
					atomic.AddInt64(&failures, 1)
				}
			}
		}()
	}
	all.Wait()
	fmt.Printf("%.3f\n", float64(time.Since(before).Nanoseconds())/1000/float64(n))
	if failures > 0 {
		os.Exit(1)
	}
}
