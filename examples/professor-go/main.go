// Command professor owns a folder of documents, searches it, and lets Librarian's search agent ask.
//
//	go run . -documents ../professor/documents
//	PROFESSOR_SEARCH_URL=http://127.0.0.1:9010/search librarian search-agent \
//	    --question 決定係数の計算式を教えて --target definition --target formula --target interpretation_0_1
//
// Documents are texts (*.md, *.txt) whose pages are parted by a line of "---". The index is BM25, in memory; nothing but
// the standard library is used. With PROFESSOR_API_KEY set, requests need it as a bearer token.
package main

import (
	"crypto/subtle"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

const (
	pagesASearch  = 6
	maxBodyBytes  = 64 << 10
	maxQueryChars = 2000
)

// Asked is the body of a request: the search_no-th search (from 1) for one request of the agent.
type Asked struct {
	RequestID string `json:"request_id"`
	SearchNo  int    `json:"search_no"`
	Query     string `json:"query"`
}

// Candidate is one page that was found. Through one request_id a temp_index names one page.
type Candidate struct {
	TempIndex int     `json:"temp_index"`
	Text      string  `json:"text"`
	Source    string  `json:"source"`
	Page      int     `json:"page"`
	Score     float64 `json:"score"`
}

// Professor answers POST /search.
type Professor struct {
	index   *Index
	numbers *Numbers
	apiKey  string
}

func (p *Professor) search(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		refuse(w, http.StatusMethodNotAllowed, "POST is wanted")
		return
	}
	if !p.mayAsk(r) {
		refuse(w, http.StatusUnauthorized, "a valid key is needed")
		return
	}
	var asked Asked
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBodyBytes)).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, "JSON with request_id, search_no and query is wanted")
		return
	}
	if asked.RequestID == "" || asked.SearchNo < 1 || len([]rune(asked.Query)) > maxQueryChars {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("request_id, search_no from 1, and at most %d characters", maxQueryChars))
		return
	}
	candidates := []Candidate{} // never null: an empty search is an empty list
	for _, hit := range p.index.Search(asked.Query, pagesASearch) {
		candidates = append(candidates, Candidate{
			TempIndex: p.numbers.Of(asked.RequestID, hit.Page),
			Text:      hit.Page.Text,
			Source:    hit.Page.Source,
			Page:      hit.Page.Number,
			Score:     hit.Score,
		})
	}
	answer(w, http.StatusOK, map[string]any{"candidates": candidates})
}

func (p *Professor) mayAsk(r *http.Request) bool {
	sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return p.apiKey == "" || subtle.ConstantTimeCompare([]byte(sent), []byte(p.apiKey)) == 1
}

func answer(w http.ResponseWriter, status int, value any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(value); err != nil {
		log.Print("the client has gone: ", err)
	}
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}

func main() {
	documents := flag.String("documents", "../professor/documents", "folder of texts")
	port := flag.Int("port", 9010, "port on 127.0.0.1; 0 takes a free one")
	flag.Parse()
	pages, err := Read(os.DirFS(*documents))
	if err != nil {
		log.Fatal(err)
	}
	professor := &Professor{NewIndex(pages), NewNumbers(), os.Getenv("PROFESSOR_API_KEY")}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d pages, http://%s/search\n", len(pages), listener.Addr())
	routes := http.NewServeMux()
	routes.HandleFunc("/search", professor.search)
	server := &http.Server{Handler: routes, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.Serve(listener))
}
