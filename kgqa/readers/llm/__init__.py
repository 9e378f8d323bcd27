"""The reader ``llm``: zero- or few-shot prompts for a model behind a chat-completions endpoint."""
