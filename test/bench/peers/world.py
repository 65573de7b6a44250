# The world of world.ts in SimPy, by its own means: each client is a process. The draws are Python's own, which cost it
# less than ours by hand would, so that its counts are ours only about.
import json
import random
import sys
import time

import simpy

ORGANIZATIONS = 20
WINDOW_MS = 60_000
USER_LIMIT = 50
draw = random.Random(1).random


class Window:
    __slots__ = ("current", "limit", "reset_at")

    def __init__(self, limit):
        self.current, self.limit, self.reset_at = 0, limit, 0

    def advance(self, now):
        if now >= self.reset_at:
            self.current = 0
            self.reset_at = now - now % WINDOW_MS + WINDOW_MS


events = calls = refused = 0


def wait_of(owner, user, now):
    lacks, user_lacks = owner.current >= owner.limit, user.current >= user.limit
    reset, user_reset = (-(-(window.reset_at - now) // 1000) for window in (owner, user))
    if lacks and not user_lacks:
        return reset
    return user_reset if user_lacks and not lacks else max(reset, user_reset)


def client(env, owner, is_poller, end):
    global events, calls, refused
    user = Window(USER_LIMIT)
    yield env.timeout(int(draw() * (30_000 if is_poller else 10_000)))
    events += 1
    wanted = at = env.now
    while at < end:
        yield env.timeout(at - env.now)
        yield env.timeout(2 + int(draw() * 7))
        now = env.now
        owner.advance(now)
        user.advance(now)
        admitted = owner.current < owner.limit and user.current < user.limit
        if admitted:
            owner.current += 1
            user.current += 1
        seconds = 0 if admitted else wait_of(owner, user, now)
        yield env.timeout(2 + int(draw() * 7))
        events += 3
        calls += 1
        if not admitted:
            refused += 1
            at = env.now + seconds * 1000 + int(draw() * 5_001)
            continue
        if is_poller:
            wanted += 30_000 * max(1, -(-(env.now - wanted) // 30_000))
        else:
            wanted = env.now + 5_000 + int(draw() * 10_001)
        at = wanted


def main():
    count, seconds = int(sys.argv[1]), int(sys.argv[2])
    env = simpy.Environment()
    each = count // ORGANIZATIONS // 2
    for _ in range(ORGANIZATIONS):
        owner = Window(int(each * 7.8))
        for is_poller in (True, False):
            for _ in range(each):
                env.process(client(env, owner, is_poller, seconds * 1000))
    begin = time.perf_counter()
    env.run()
    ms = (time.perf_counter() - begin) * 1000
    print(json.dumps({"events": events, "calls": calls, "refused": refused, "ms": ms}))


main()
