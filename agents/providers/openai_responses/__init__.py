"""The Responses wire: OpenAI's newer one, with reasoning summaries, also spoken by others."""
