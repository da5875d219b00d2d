// After SIGTERM, stop accepting, and give handlers three seconds to end.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func answer(conn net.Conn) {
	defer conn.Close()
	if _, err := bufio.NewReader(conn).ReadString('\n'); err != nil {
		return
	}
	time.Sleep(500 * time.Millisecond)
	conn.Write([]byte("done\n"))
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	go func() {
		<-ctx.Done()
		listener.Close()
	}()
	var handlers sync.WaitGroup
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		handlers.Add(1)
		go func() {
			defer handlers.Done()
			answer(conn)
		}()
	}
	done := make(chan struct{})
	go func() {
		handlers.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(3 * time.Second): // the remaining handlers end with the process
	}
}
