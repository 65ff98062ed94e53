module aldaba.dev/kit

go 1.19
