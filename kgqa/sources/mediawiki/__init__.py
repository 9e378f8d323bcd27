"""Wikipedia and other MediaWiki sites: XML dumps, and JSON lines that WikiExtractor made of them."""
