"""``kgqa doctor``: random graphs, a brute-force oracle for every query, and every store that is reachable; plus what is installed here."""
