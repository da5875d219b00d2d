// go_crawl URL CONNECTIONS - a crawler with Go's net/http and the tokenizer of x/net/html.
package main

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"sync"

	"golang.org/x/net/html"
)

type crawl struct {
	client  *http.Client
	root    *url.URL
	mutex   sync.Mutex
	wake    *sync.Cond
	seen    map[string]bool
	todo    []string
	pending int
	failed  int
}

func (c *crawl) add(page string) {
	c.mutex.Lock()
	if !c.seen[page] {
		c.seen[page] = true
		c.todo = append(c.todo, page)
		c.pending++
		c.wake.Signal()
	}
	c.mutex.Unlock()
}

// Wait for the next page, and return it. Returns false once no more pages can be found.
func (c *crawl) next() (string, bool) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for len(c.todo) == 0 && c.pending > 0 {
		c.wake.Wait()
	}
	if len(c.todo) == 0 {
		return "", false
	}
	page := c.todo[0]
	c.todo = c.todo[1:]
	return page, true
}

func (c *crawl) done(err error) {
	c.mutex.Lock()
	c.pending--
	if err != nil {
		c.failed++
	}
	if c.pending == 0 {
		c.wake.Broadcast()
	}
	c.mutex.Unlock()
}

func (c *crawl) link(base *url.URL, href string) {
	target, err := base.Parse(href)
	if err != nil || target.Host != c.root.Host {
		return
	}
	target.Fragment = ""
	c.add(target.String())
}

func (c *crawl) fetch(page string) error {
	response, err := c.client.Get(page)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		return fmt.Errorf("status %d", response.StatusCode)
	}
	tokens := html.NewTokenizer(response.Body)
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			return nil // end of the page
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := tokens.TagName()
			for isAnchor := string(name) == "a"; isAnchor && more; {
				var key, value []byte
				key, value, more = tokens.TagAttr()
				if string(key) == "href" {
					c.link(response.Request.URL, string(value))
				}
			}
		}
	}
}

func main() {
	root, err := url.Parse(os.Args[1])
	count, _ := strconv.Atoi(os.Args[2])
	if err != nil {
		os.Exit(2)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: count, MaxConnsPerHost: count}
	c := &crawl{client: &http.Client{Transport: transport}, root: root, seen: map[string]bool{}}
	c.wake = sync.NewCond(&c.mutex)
	c.add(root.String())
	var workers sync.WaitGroup
	for i := 0; i < count; i++ {
		workers.Add(1)
		go func() {
			defer workers.Done()
			for page, ok := c.next(); ok; page, ok = c.next() {
				c.done(c.fetch(page))
			}
		}()
	}
	workers.Wait()
	if c.failed > 0 {
		os.Exit(1)
	}
}
