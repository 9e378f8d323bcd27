"""A model behind a chat-completions endpoint: its client with limits, the recording of its answers, and :func:`kgqa.chat.ask.ask`."""
