package main

import "sync"

const maxConversations = 1000

// Numbers gives each page its temp_index for as long as one request of the agent lasts: counting goes on.
type Numbers struct {
	lock      sync.Mutex
	byRequest map[string]map[*Page]int
	oldest    []string
}

// NewNumbers remembers nothing yet.
func NewNumbers() *Numbers {
	return &Numbers{byRequest: map[string]map[*Page]int{}}
}

// Of returns the page's number in a request: the one it had, or the next.
func (n *Numbers) Of(requestID string, page *Page) int {
	n.lock.Lock()
	defer n.lock.Unlock()
	numbers, known := n.byRequest[requestID]
	if !known {
		numbers = map[*Page]int{}
		n.byRequest[requestID] = numbers
		n.oldest = append(n.oldest, requestID)
		if len(n.oldest) > maxConversations {
			delete(n.byRequest, n.oldest[0])
			n.oldest = n.oldest[1:]
		}
	}
	if _, seen := numbers[page]; !seen {
		numbers[page] = len(numbers) + 1
	}
	return numbers[page]
}
