// Copy the bytes of each connection to a server and back, with half-closes.
package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"os"
)

func copyBytes(to, from *net.TCPConn, done chan<- error) {
	_, err := io.Copy(to, from)
	if err == nil {
		err = to.CloseWrite()
	}
	done <- err
}

func serve(client *net.TCPConn) {
	defer client.Close()
	conn, err := net.Dial("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		return
	}
	server := conn.(*net.TCPConn)
	defer server.Close()
	done := make(chan error, 2)
	go copyBytes(server, client, done)
	go copyBytes(client, server, done)
	if <-done == nil {
		<-done
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	for {
		conn, err := listener.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go serve(conn.(*net.TCPConn))
	}
}
