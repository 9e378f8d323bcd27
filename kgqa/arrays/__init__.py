"""Arrays and compiled loops: rows, texts, tokens, hashes, random draws, 32-bit checks, the kernel decorator and its cache."""
