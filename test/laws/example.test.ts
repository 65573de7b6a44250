// The README's example: a stranger's middleware under Vitest. There it ends with `describeLimiter(test, limiter)`;
// here with the seed of the test run, and without the `skip` of `test`, since nothing in this suite is skipped.
import { rateLimit } from "express-rate-limit";
import { describeLimiter, keyedLaws, middlewareLimiter } from "spillway/laws";
import { test, vi } from "vitest";
import { seed } from "../support/seed.ts";

vi.useFakeTimers({ toFake: ["Date"] });

const limiter = middlewareLimiter({
  name: "express-rate-limit",
  algorithm: "fixed-window",
  refused: "counted",
  create: ({ limit, windowMs }) => rateLimit({ limit, windowMs, standardHeaders: "draft-7" }),
  setNow: (nowMs) => vi.setSystemTime(nowMs),
});

// Its headers show no count beside what is left, and there is no call that only looks.
const laws = keyedLaws({ algorithm: "fixed-window", refused: "counted" }).filter(
  (law) => law !== "remaining-agrees" && law !== "status-free",
);
describeLimiter((name, body, timeoutMs) => test(name, body, timeoutMs), limiter, { laws, seed, runs: 25 });
