"""Draws depend on what they are for, and are even; a reservoir does not care about order and repetition."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, strategies as st

from kgqa.arrays.draws import Reservoir, sample


@given(st.lists(st.integers(), max_size=12), st.data())
def test_a_sample_holds_what_is_there_without_repetition(values: list[int], data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(values)))
    drawn = sample(list(enumerate(values)), count, purpose="test", seed=1, id="q")
    assert len(set(drawn)) == count
    assert set(drawn) <= set(enumerate(values))
    assert sample(list(enumerate(values)), count, purpose="test", seed=1, id="q") == drawn


def test_every_order_is_drawn_about_as_often() -> None:
    orders = Counter(tuple(sample("abc", 3, purpose="test", seed=1, id=str(number))) for number in range(6_000))
    assert len(orders) == 6
    # 1,000 expected, standard deviation 29: five of them either way.
    assert all(855 < count < 1145 for count in orders.values())


def test_purpose_seed_and_id_each_give_another_draw() -> None:
    plain = {"purpose": "a", "seed": 1, "id": "q"}
    draws = [sample(range(1_000), 5, **values) for values in (plain, {**plain, "purpose": "b"}, {**plain, "seed": 2}, {**plain, "id": "r"})]  # type: ignore[arg-type]
    assert len(set(map(tuple, draws))) == 4


@given(st.lists(st.sampled_from("abcdefgh"), max_size=30), st.integers(1, 6))
def test_a_reservoir_depends_on_the_different_keys_alone(keys: list[str], limit: int) -> None:
    found = []
    for turn in (keys, keys[::-1], sorted(set(keys))):
        reservoir = Reservoir[str](limit, purpose="test", seed=3)
        for key in turn:
            reservoir.add(key, key.upper())
        found.append(reservoir.values())
    assert found[0] == found[1] == found[2]
    assert len(found[0]) == min(limit, len(set(keys)))
    assert set(found[0]) <= {key.upper() for key in keys}


@given(st.lists(st.tuples(st.sampled_from("abcdefgh"), st.sampled_from("xyz")), max_size=30), st.integers(0, 6))
def test_a_reservoir_keeps_the_smallest_value_of_a_key_and_says_what_goes(pairs: list[tuple[str, str]], limit: int) -> None:
    found = []
    for turn in (pairs, pairs[::-1]):
        reservoir = Reservoir[tuple[str, str]](limit, purpose="test", seed=3, order=lambda pair: pair)
        kept = set()
        for pair in turn:
            gone = reservoir.add(pair[0], pair)
            kept.add(pair[0])
            kept.discard(gone[0] if gone else "")
        found.append(reservoir.values())
        assert {key for key, _ in reservoir.values()} == kept
    assert found[0] == found[1]
    assert all(value == min(other for key, other in pairs if key == name) for name, value in found[0])


def test_a_reservoir_keeps_every_key_about_as_often() -> None:
    kept: Counter[str] = Counter()
    for seed in range(2_000):
        reservoir = Reservoir[str](2, purpose="test", seed=seed)
        for key in "abcd":
            reservoir.add(key, key)
        kept.update(reservoir.values())
    assert all(880 < kept[key] < 1120 for key in "abcd")
