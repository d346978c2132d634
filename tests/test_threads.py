import threading
import time
from functools import partial

import numpy as np
import pytest
from lightgbm.basic import _LIB

from otfairboost.threads import MAX_CHUNKS, MIN_CHUNK, RowChunks, count_threads, openmp_team


@pytest.mark.parametrize("n_rows", [0, 1, MIN_CHUNK, MIN_CHUNK + 1, 100_000, 16 * MIN_CHUNK + 1, 1_234_567])
def test_chunks_cover_every_row_once_and_do_not_depend_on_the_threads(n_rows):
    bounds = RowChunks(n_rows).bounds
    covered = np.concatenate([np.arange(start, stop) for start, stop in bounds]) if bounds else np.empty(0)
    assert (covered == np.arange(n_rows)).all()
    assert len(covered) == n_rows
    assert len(bounds) <= MAX_CHUNKS
    assert all(RowChunks(n_rows, n_jobs).bounds == bounds for n_jobs in (2, 3, 64))
    assert len(RowChunks(n_rows)) == len(bounds)


def test_chunks_are_equal_and_a_power_of_two():
    """So that 2, 4 or 8 threads finish together."""
    for n_rows in (2 * MIN_CHUNK - 1, 3 * MIN_CHUNK, 300_000, 1_000_003):
        sizes = [stop - start for start, stop in RowChunks(n_rows).bounds]
        assert len(sizes) in (1, 2, 4, 8)
        assert max(sizes) - min(sizes) < len(sizes)
        assert len(sizes) == 1 or min(sizes) >= MIN_CHUNK - len(sizes)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("shape", [(4, 2, 9000, 3), (1, 1, 1, 2), (3, 2, 0, 3)])
def test_sum_of_parts(n_jobs, shape):
    room = np.random.default_rng(0).normal(size=(*shape[:2], shape[2] + 5, shape[3]))
    parts = room[:, :, : shape[2]]  # not in one piece, as the room that binners share
    expected = sum(parts, np.zeros(shape[1:]))
    with RowChunks(4 * MIN_CHUNK, n_jobs) as chunks:
        assert (chunks.sum(parts) == expected).all()


@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5, 64])
def test_every_chunk_is_worked_off_once(n_jobs):
    calls = []
    with RowChunks(100_000, n_jobs) as chunks:
        for _ in range(3):
            chunks.run(lambda index, start, stop: calls.append((index, start, stop)))
        expected = [(index, *bound) for index, bound in enumerate(chunks.bounds)]
    assert sorted(calls) == sorted(3 * expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_deferred_work_is_done_once_before_the_next_work_on_its_chunk(n_jobs):
    calls = []
    with RowChunks(4 * MIN_CHUNK, n_jobs) as chunks:
        expected = [(index, *bound) for index, bound in enumerate(chunks.bounds)]
        chunks.defer(lambda *chunk: calls.append(("deferred", chunk)))
        assert not calls
        for work in ("first", "second"):
            chunks.run(lambda *chunk, work=work: calls.append((work, chunk)))
    assert len(calls) == 3 * len(expected)
    for chunk in expected:
        assert [work for work, other in calls if other == chunk] == ["deferred", "first", "second"]


def test_deferred_work_can_be_caught_up_with():
    calls = []
    chunks = RowChunks(2 * MIN_CHUNK)
    for _ in range(2):
        chunks.defer(lambda index, start, stop: calls.append(index))
        chunks.catch_up()
        chunks.catch_up()
    chunks.run(lambda *_: None)
    assert calls == [0, 1, 0, 1]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_deferred_work_is_raised_and_keeps_the_next_work_from_its_chunk(n_jobs):
    calls = []

    def fail(index, start, stop):
        if index == 1:
            raise ValueError("deferred")

    with RowChunks(2 * MIN_CHUNK, n_jobs) as chunks:
        chunks.defer(fail)
        with pytest.raises(ValueError, match="deferred"):
            chunks.run(lambda index, start, stop: calls.append(index))
        assert 1 not in calls
        chunks.run(lambda index, start, stop: calls.append(index))
    assert calls.count(1) == 1


def test_threads_work_at_the_same_time():
    """Two chunks that wait for one another can only both finish on two threads."""
    meeting = threading.Barrier(2, timeout=10)
    with RowChunks(2 * MIN_CHUNK, 2) as chunks:
        chunks.run(lambda *_: meeting.wait())
    assert chunks.n_threads == 2


def test_no_more_threads_than_chunks_and_none_for_a_single_one():
    assert RowChunks(4 * MIN_CHUNK, 64).n_threads == 4
    names = []
    RowChunks(100_000, 1).run(lambda *_: names.append(threading.current_thread()))
    assert set(names) == {threading.current_thread()}
    RowChunks(0, 4).run(lambda *_: pytest.fail("there are no rows"))


@pytest.mark.parametrize("n_jobs", [1, 2, 4])
@pytest.mark.parametrize("bad", [0, 3, 7])
def test_an_error_in_a_chunk_is_raised(n_jobs, bad):
    def work(index, start, stop):
        time.sleep(0.001)
        if index == bad:
            raise ZeroDivisionError(f"chunk {index}")

    with RowChunks(8 * MIN_CHUNK, n_jobs) as chunks, pytest.raises(ZeroDivisionError, match=f"^chunk {bad}$"):
        chunks.run(work)


def test_closing_lets_the_threads_go_and_running_again_starts_new_ones():
    def own():
        return [thread for thread in threading.enumerate() if thread.name.startswith("otfairboost")]

    before = len(own())
    chunks = RowChunks(100_000, 3)
    assert len(own()) == before
    for _ in range(2):
        chunks.run(lambda *_: time.sleep(0.001))
        assert len(own()) > before
        chunks.close()
        chunks.close()
        assert len(own()) == before


@pytest.mark.parametrize("n_tasks", [0, 1, 2, 7])
def test_tasks_of_any_number_are_worked_off_once(n_tasks):
    calls = []
    with RowChunks(100_000, 3) as chunks:
        chunks.run_tasks(n_tasks, calls.append)
    assert sorted(calls) == list(range(n_tasks))


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("length", [0, 1, 2, 10])
def test_a_range_is_shared_out_in_one_part_for_each_thread(length, n_jobs):
    parts = []
    with RowChunks(4 * MIN_CHUNK, n_jobs) as chunks:
        chunks.share_out(length, lambda some: parts.append(list(range(length))[some]))
    assert sorted(i for part in parts for i in part) == list(range(length))
    assert len(parts) == min(length, n_jobs)


@pytest.fixture
def team():
    found = openmp_team(_LIB)
    if found is None:
        pytest.skip("LightGBM is not linked with GNU's OpenMP here")
    return found


def test_the_boosters_own_threads_do_the_work(team):
    calls, threads = [], set()
    meeting = threading.Barrier(2, timeout=10)

    def work(index):
        if index < 2:
            meeting.wait()  # only passed if two threads come
        threads.add(threading.get_ident())
        calls.append(index)

    with RowChunks(8 * MIN_CHUNK, 2) as chunks:
        chunks.team = team
        for _ in range(3):
            chunks.run_tasks(8, work)
    assert sorted(calls) == sorted(3 * list(range(8)))
    assert len(threads) >= 2
    assert not any(thread.name.startswith("otfairboost") for thread in threading.enumerate())


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt])
def test_an_error_on_the_boosters_threads_is_raised(team, error):
    def work(index, start, stop):
        if index == 5:
            raise error("chunk 5")

    with RowChunks(8 * MIN_CHUNK, 2) as chunks:
        chunks.team = team
        with pytest.raises(error, match="chunk 5"):
            chunks.run(work)


def test_threads_that_the_library_ends_and_starts_again_do_no_harm(team):
    """It ends those that a call does not need, and a new thread may have the number of one that ended."""
    for _ in range(3):
        with team.kept_states():
            for n_threads in (4, 2, 3, 4, 4):
                native, meeting = set(), threading.Barrier(n_threads, timeout=10)

                def work(native=native, meeting=meeting):
                    meeting.wait()
                    native.add(threading.get_native_id())

                team(work, n_threads)
                assert len(native) == n_threads
        team(lambda: None, 2)


def test_states_of_threads_are_kept_for_a_round_and_no_longer(team):
    """A thread's local variables live as long as its state."""
    local, seen = threading.local(), []

    def work(meeting):
        meeting.wait()
        if threading.current_thread() is not threading.main_thread():
            local.calls = getattr(local, "calls", 0) + 1
            seen.append(local.calls)

    def call():
        team(partial(work, threading.Barrier(2, timeout=10)), 2)

    def run_a_round_that_fails(chunks):
        with chunks.one_round():
            for _ in range(3):
                call()
            raise ZeroDivisionError

    with RowChunks(8 * MIN_CHUNK, 2) as chunks:
        chunks.team = team
        for _ in range(2):
            with pytest.raises(ZeroDivisionError):
                run_a_round_that_fails(chunks)
            call()
            call()
    assert seen == 2 * [1, 2, 3, 1, 1]


def test_fewer_tasks_than_threads_end_no_thread(team):
    threads = set()
    with RowChunks(8 * MIN_CHUNK, 4) as chunks:
        chunks.team = team
        for n_tasks in (4, 2, 4):
            meeting = threading.Barrier(n_tasks, timeout=10)

            def work(index, meeting=meeting):
                meeting.wait()  # a thread for each task
                threads.add(threading.get_native_id())

            chunks.run_tasks(n_tasks, work)
    assert len(threads) == 4


def test_a_library_without_gnu_openmp_has_no_team():
    class Library:
        pass

    assert openmp_team(Library()) is None


def test_number_of_threads(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 2, 3, 4, 5}, raising=False)
    asked = {None: 6, 0: 6, 1: 1, 4: 4, 9: 9, -1: 6, -2: 5, -6: 1, -20: 1}
    assert {n_jobs: count_threads(n_jobs) for n_jobs in asked} == asked
    monkeypatch.delattr("os.sched_getaffinity")
    monkeypatch.setattr("os.cpu_count", lambda: None)
    assert count_threads(None) == 1
