// go_copy FROM TO - copies a file, or all files of a directory, with several workers.
// io.Copy between two files uses copy_file_range(2).
package main

import (
	"io"
	"log"
	"os"
	"path/filepath"
	"sync"
)

const workers = 16

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	info, err := source.Stat()
	if err != nil {
		return err
	}
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, info.Mode().Perm())
	if err != nil {
		return err
	}
	if _, err = io.Copy(target, source); err != nil {
		target.Close()
		return err
	}
	return target.Close()
}

func copyTree(from, to string) error {
	if err := os.Mkdir(to, 0777); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	names := make(chan string, 64)
	failures := make(chan error, workers)
	var group sync.WaitGroup
	for i := 0; i < workers; i++ {
		group.Add(1)
		go func() {
			defer group.Done()
			for name := range names {
				if err := copyFile(filepath.Join(from, name), filepath.Join(to, name)); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	for _, entry := range entries {
		names <- entry.Name()
	}
	close(names)
	group.Wait()
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

func main() {
	from, to := os.Args[1], os.Args[2]
	info, err := os.Stat(from)
	if err == nil && info.IsDir() {
		err = copyTree(from, to)
	} else if err == nil {
		err = copyFile(from, to)
	}
	if err != nil {
		log.Fatal(err)
	}
}
