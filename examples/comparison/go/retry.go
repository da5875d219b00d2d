// Connect, with up to ten attempts and a pause that doubles.
package main

import (
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"syscall"
	"time"
)

func connectPatiently(port string) (net.Conn, error) {
	pause := 10 * time.Millisecond
	for attempt := 0; ; attempt++ {
		conn, err := net.DialTimeout("tcp", "127.0.0.1:"+port, 5*time.Second)
		if err == nil || attempt == 9 || !errors.Is(err, syscall.ECONNREFUSED) {
			return conn, err
		}
		time.Sleep(pause)
		pause *= 2
	}
}

func main() {
	conn, err := connectPatiently(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	fmt.Println("connected")
}
