"""Token counts that come once, repeatedly, growing, or in a corner of their own. Pure."""

from agents.providers.chat_completions.chunks import Choice, Chunk, ChunkUsage
from streaming.events import Usage


def usage_of(chunk: Chunk, choice: Choice | None) -> ChunkUsage | None:
    """Find the counts of a chunk: its own, Groq's `x_groq`, or the choice's (Moonshot)."""
    if chunk.usage is not None:
        return chunk.usage
    if chunk.x_groq is not None and chunk.x_groq.usage is not None:
        return chunk.x_groq.usage
    return choice.usage if choice is not None else None


def add_usage(known: Usage, new: ChunkUsage) -> Usage:
    """Return the last stated number of each kind: a later chunk replaces, it does not add."""
    prompt, completion = new.prompt_tokens_details, new.completion_tokens_details
    return Usage(
        input_tokens=_first(new.prompt_tokens, known.input_tokens),
        output_tokens=_first(new.completion_tokens, known.output_tokens),
        total_tokens=_first(new.total_tokens, known.total_tokens),
        cached_tokens=_first(
            prompt.cached_tokens if prompt else None,
            new.prompt_cache_hit_tokens,
            new.cached_tokens,
            known.cached_tokens,
        ),
        reasoning_tokens=_first(
            completion.reasoning_tokens if completion else None,
            new.reasoning_tokens,
            known.reasoning_tokens,
        ),
    )


def _first(*numbers: int | None) -> int | None:
    return next((number for number in numbers if number is not None), None)
