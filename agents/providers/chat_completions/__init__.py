"""The Chat Completions wire: OpenAI's own, and everybody's who speaks it."""
