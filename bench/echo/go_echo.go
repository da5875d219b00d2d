// go_echo - echo with Go: a goroutine for each connection. TCP_NODELAY is Go's default.
package main

import (
	"fmt"
	"net"
	"os"
)

func serve(conn net.Conn) {
	defer conn.Close()
	bytes := make([]byte, 4096)
	for {
		n, err := conn.Read(bytes)
		if err != nil {
			return
		}
		if _, err := conn.Write(bytes[:n]); err != nil {
			return
		}
	}
}

func main() {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		if conn, err := listener.Accept(); err == nil {
			go serve(conn)
		}
	}
}
