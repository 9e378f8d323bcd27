"""How each paper makes its data; one folder per recipe."""
