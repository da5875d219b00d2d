// go_select CONNINFO CONNECTIONS COUNT - makes COUNT SELECT queries with Go's lib/pq.
// It prints the same figures as client.h.
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/lib/pq"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "go_select:", err)
		os.Exit(1)
	}
}

func use(conn *sql.Conn, count int) {
	for i := 0; i < count; i++ {
		var answer int
		check(conn.QueryRowContext(context.Background(), "SELECT 42").Scan(&answer))
		if answer != 42 {
			check(fmt.Errorf("a wrong answer"))
		}
	}
}

// Return the user time and the system time of this process, in microseconds.
func times() (float64, float64) {
	var usage syscall.Rusage
	check(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	return float64(usage.Utime.Nano()) / 1e3, float64(usage.Stime.Nano()) / 1e3
}

// Return the peak memory with page tables, in MB.
func memory() float64 {
	status, err := os.ReadFile("/proc/self/status")
	check(err)
	kib := 0.0
	for _, line := range strings.Split(string(status), "\n") {
		words := strings.Fields(line)
		if len(words) > 1 && (words[0] == "VmHWM:" || words[0] == "VmPTE:") {
			n, _ := strconv.ParseFloat(words[1], 64)
			kib += n
		}
	}
	return kib / 1024
}

func main() {
	n, _ := strconv.Atoi(os.Args[2])
	count, _ := strconv.Atoi(os.Args[3])
	db, err := sql.Open("postgres", os.Args[1]+" sslmode=disable")
	check(err)
	conns := make([]*sql.Conn, n)
	for i := range conns {
		conns[i], err = db.Conn(context.Background())
		check(err)
	}
	var workers sync.WaitGroup
	began := time.Now()
	user, system := times()
	for _, conn := range conns {
		workers.Add(1)
		go func(conn *sql.Conn) {
			defer workers.Done()
			use(conn, count/n)
		}(conn)
	}
	workers.Wait()
	wall := time.Since(began).Seconds()
	userEnd, systemEnd := times()
	made := float64(count / n * n)
	fmt.Println((userEnd-user+systemEnd-system)/made, (userEnd-user)/made, made/wall, memory())
}
