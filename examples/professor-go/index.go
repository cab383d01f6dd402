package main

import (
	"io/fs"
	"math"
	"path"
	"regexp"
	"sort"
	"strings"
	"unicode"
)

// BM25 as usual.
const (
	k1 = 1.2
	b  = 0.75
)

var pageBreak = regexp.MustCompile(`(?m)^---\s*$`)

// Page is one page of one document; pages count from 1.
type Page struct {
	Source string
	Number int
	Text   string
}

// Hit is a page that was found; a higher score is better.
type Hit struct {
	Page  *Page
	Score float64
}

// Index finds pages by their words.
type Index struct {
	pages   []*Page
	counts  []map[string]int
	lengths []float64
	holders map[string]int
	average float64
}

// Read returns every page of every text in folder.
func Read(folder fs.FS) ([]*Page, error) {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return nil, err
	}
	var pages []*Page
	for _, entry := range entries {
		name := entry.Name()
		if path.Ext(name) != ".md" && path.Ext(name) != ".txt" {
			continue
		}
		content, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		source := strings.TrimSuffix(name, path.Ext(name))
		for number, text := range pageBreak.Split(string(content), -1) {
			if text = strings.TrimSpace(text); text != "" {
				pages = append(pages, &Page{source, number + 1, text})
			}
		}
	}
	return pages, nil
}

// NewIndex counts the words of each page.
func NewIndex(pages []*Page) *Index {
	index := &Index{pages: pages, holders: map[string]int{}}
	for _, page := range pages {
		counts := map[string]int{}
		words := tokens(page.Text)
		for _, word := range words {
			counts[word]++
		}
		for word := range counts {
			index.holders[word]++
		}
		index.counts = append(index.counts, counts)
		index.lengths = append(index.lengths, float64(len(words)))
		index.average += float64(len(words)) / float64(len(pages))
	}
	return index
}

// Search returns the best pages that hold a word of the query, best first.
func (i *Index) Search(query string, most int) []Hit {
	wanted := map[string]bool{}
	for _, word := range tokens(query) {
		wanted[word] = true
	}
	var hits []Hit
	for at, page := range i.pages {
		if score := i.score(at, wanted); score > 0 {
			hits = append(hits, Hit{page, math.Round(score*1e4) / 1e4})
		}
	}
	sort.SliceStable(hits, func(x, y int) bool { return hits[x].Score > hits[y].Score })
	if len(hits) > most {
		hits = hits[:most]
	}
	return hits
}

func (i *Index) score(at int, wanted map[string]bool) float64 {
	total := 0.0
	for word := range wanted {
		count := float64(i.counts[at][word])
		if count == 0 {
			continue
		}
		holders := float64(i.holders[word])
		rarity := math.Log(1 + (float64(len(i.pages))-holders+0.5)/(holders+0.5))
		total += rarity * count * (k1 + 1) / (count + k1*(1-b+b*i.lengths[at]/i.average))
	}
	return total
}

// tokens are words in lower case; Japanese has no blanks, so of it every pair of neighbouring letters.
func tokens(text string) []string {
	var found []string
	var run []rune
	var japanese bool
	flush := func() {
		if !japanese || len(run) == 1 {
			if len(run) > 0 {
				found = append(found, string(run))
			}
		} else {
			for at := 0; at+1 < len(run); at++ {
				found = append(found, string(run[at:at+2]))
			}
		}
		run = nil
	}
	for _, letter := range strings.ToLower(text) {
		isJapanese := unicode.In(letter, unicode.Han, unicode.Hiragana, unicode.Katakana) || letter == 'ー'
		if len(run) > 0 && isJapanese != japanese {
			flush()
		}
		if isJapanese || unicode.IsLetter(letter) || unicode.IsDigit(letter) {
			japanese = isJapanese
			run = append(run, letter)
		} else {
			flush()
		}
	}
	flush()
	return found
}
