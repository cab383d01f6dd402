module example.com/professor

go 1.21
