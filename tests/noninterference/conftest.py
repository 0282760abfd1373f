"""The stage: puppets in the product's tables, one event loop, and the application on it."""

import asyncio
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings as django_settings

from tests.deployments.wire import serving
from tests.noninterference.scenes import Pair, Scene
from tests.noninterference.stage import set_up
from tests.noninterference.worlds import Interference, World, difference

#: A scene and a seed of what it hides → what came out, by endpoint.
Play = Callable[[Scene, int], dict[str, bytes]]
#: Raises Interference if the worlds of a pair can be told apart.
Check = Callable[[Pair], None]


@pytest.fixture
def play(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Play]:
    """Play one world."""
    puppets = set_up(monkeypatch)
    monkeypatch.setattr(django_settings, "STUDIO_HEARTBEAT_SECONDS", 600)
    with asyncio.Runner() as runner:
        application = serving()
        client = runner.run(application.__aenter__())

        def play_one(scene: Scene, seed: int) -> dict[str, bytes]:
            world = World(scene, seed, puppets)
            with world.stored():
                return runner.run(world.play(client))

        yield play_one
        runner.run(application.__aexit__(None, None, None))


@pytest.fixture
def check(play: Play) -> Check:
    """Play both worlds of a pair."""

    def compare(pair: Pair) -> None:
        left, right = (play(pair.scene, seed) for seed in (pair.left, pair.right))
        if found := difference(left, right):
            raise Interference(f"{pair}\n{found}")

    return compare
