"""What loops and columns share: rows, texts, tokens, hashes, draws, growth, numbers that fit, the kernel decorator and its cache."""
