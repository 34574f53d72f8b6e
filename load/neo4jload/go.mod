module github.com/weir-go/weir/load/neo4jload

go 1.26

require github.com/neo4j/neo4j-go-driver/v5 v5.28.4
