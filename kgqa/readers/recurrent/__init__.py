"""Readers that read all paragraphs as one long text with LSTMs, BiDAF and FastQA, or with GRUs, HotpotQA's baseline."""
