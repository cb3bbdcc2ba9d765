module assay-peers-server

go 1.22
