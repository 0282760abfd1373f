from agents.prices import price_of
from agents.spec import Price


def test_a_known_model_of_a_known_vendor_has_a_price() -> None:
    price = price_of("openai", "", "gpt-4o-mini")
    assert price is not None
    assert 0 < price.input < price.output
    assert price.cached_input is not None
    assert price == price_of("openai", "https://api.openai.com/v1", "gpt-4o-mini")
    assert price_of("openai-compat", "https://api.deepseek.com/v1", "deepseek-chat") is not None


def test_what_is_unknown_has_none_and_never_zero() -> None:
    assert price_of("openai-compat", "http://127.0.0.1:9000/v1", "llama-3") is None
    assert price_of("openai-compat", "http://127.0.0.1:9000/v1", "gpt-4o-mini") is None
    assert price_of("openai", "", "no-such-model") is None
    assert price_of("openai-compat", "", "gpt-4o-mini") is None


def test_what_staff_say_wins() -> None:
    override = {"price": {"input": 0, "output": 0.5}}
    assert price_of("openai", "", "gpt-4o-mini", override) == Price(0, 0.5)
    assert price_of("openai", "", "gpt-4o-mini", {"thinking": "full"}) == price_of(
        "openai", "", "gpt-4o-mini"
    )


def test_the_demo_is_free() -> None:
    assert price_of("demo", "", "anything") == Price(0.0, 0.0)
