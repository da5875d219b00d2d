// go_stream.go - transfers bulk data over one connection between two processes.
//
//	go_stream BYTES PIECE [sendfile]
package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// useReno: see run.
func useReno(network, address string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		const tcpCongestion = 13
		check(syscall.SetsockoptString(int(fd), syscall.IPPROTO_TCP, tcpCongestion, "reno"))
	})
}

// send writes `total` bytes to the address that the parent listens on.
func send(address string, total, piece int64, file bool) {
	dialer := net.Dialer{Control: useReno}
	conn, err := dialer.Dial("tcp", address)
	check(err)
	bytes := make([]byte, piece)
	var f *os.File
	if file {
		f, err = os.CreateTemp("/dev/shm", "piece")
		check(err)
		os.Remove(f.Name())
		check(f.Truncate(piece))
	}
	for left := total; left > 0; {
		n := min64(piece, left)
		if file {
			f.Seek(0, io.SeekStart)
			_, err = io.CopyN(conn, f, n)
		} else {
			_, err = conn.Write(bytes[:n])
		}
		check(err)
		left -= n
	}
	conn.Close()
}

func min64(a, b int64) int64 {
	if a < b {
		return a
	}
	return b
}

func cpu() float64 {
	sum := 0.0
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		syscall.Getrusage(who, &u)
		sum += float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
	}
	return sum
}

func main() {
	if os.Args[1] == "send" {
		total, _ := strconv.ParseInt(os.Args[3], 10, 64)
		piece, _ := strconv.ParseInt(os.Args[4], 10, 64)
		send(os.Args[2], total, piece, len(os.Args) > 5)
		return
	}
	total, _ := strconv.ParseInt(os.Args[1], 10, 64)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	// The sender runs on processor 0, the receiver on the other processor: see run.
	child := exec.Command("taskset", append([]string{"-c", "0", os.Args[0], "send",
		listener.Addr().String()}, os.Args[1:]...)...)
	child.Stderr = os.Stderr
	check(child.Start())
	conn, err := listener.Accept()
	check(err)
	before, begun := cpu(), time.Now()
	bytes := make([]byte, 256*1024)
	got := int64(0)
	for {
		n, err := conn.Read(bytes)
		got += int64(n)
		if err != nil {
			break
		}
	}
	took := time.Since(begun).Seconds()
	check(child.Wait())
	if got != total {
		os.Exit(1)
	}
	fmt.Printf("%.1f %.3f\n", float64(total)/1e6/took,
		(cpu()-before)/(float64(total)/(1<<30)))
}
