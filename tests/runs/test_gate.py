"""The line before the ledger: a few at a time, nobody left out, and no waiting for ever."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from runs import gate
from runs.refusals import Refused
from streaming.codes import RefusalCode


def test_it_lets_in_a_few_at_a_time_and_everybody_in_the_end() -> None:
    lock, inside, most = threading.Lock(), 0, 0
    full, go_on = threading.Event(), threading.Event()

    def enter() -> None:
        nonlocal inside, most
        with gate.turn():
            with lock:
                inside += 1
                most = max(most, inside)
                if inside == gate.PLACES:
                    full.set()
            assert go_on.wait(10)
            with lock:
                inside -= 1

    with ThreadPoolExecutor(20) as threads:
        entered = [threads.submit(enter) for _ in range(20)]
        assert full.wait(10)
        go_on.set()
        for one in entered:
            one.result()
    assert most == gate.PLACES


def test_it_tells_who_waited_too_long_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "_places", threading.BoundedSemaphore(1))
    monkeypatch.setattr(gate, "PATIENCE", 0.01)
    with gate.turn(), pytest.raises(Refused) as caught, gate.turn():
        pass
    assert caught.value.code is RefusalCode.SERVICE_UNAVAILABLE


def test_a_place_is_free_again_after_a_failure() -> None:
    for _ in range(gate.PLACES + 1):
        with pytest.raises(ValueError, match="broken"), gate.turn():
            raise ValueError("broken")
