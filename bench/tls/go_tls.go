// go_tls - the TLS server with Go: a goroutine for each connection.
// TCP_NODELAY is Go's default.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"os"
)

const message, chunk, much = 64, 65536, 1 << 30

func sendMuch(conn net.Conn) error {
	bytes := make([]byte, chunk)
	for left := much; left > 0; left -= chunk {
		if _, err := conn.Write(bytes); err != nil {
			return err
		}
	}
	return nil
}

func serve(conn net.Conn) {
	defer conn.Close()
	bytes := make([]byte, message)
	for {
		if _, err := io.ReadFull(conn, bytes); err != nil {
			return
		}
		var err error
		if bytes[0] == 'S' {
			err = sendMuch(conn)
		} else {
			_, err = conn.Write(bytes)
		}
		if err != nil {
			return
		}
	}
}

func main() {
	pair, err := tls.LoadX509KeyPair(os.Args[1], os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	// Write records of the full size from the start, like the other servers.
	config := &tls.Config{Certificates: []tls.Certificate{pair},
		DynamicRecordSizingDisabled: true}
	listener, err := tls.Listen("tcp4", "127.0.0.1:0", config)
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
