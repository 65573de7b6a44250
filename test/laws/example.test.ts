// The example of the README, as it stands there: a stranger's middleware under Vitest.
import { rateLimit } from "express-rate-limit";
import { describeLimiter, middlewareLimiter } from "spillway/laws";
import { test, vi } from "vitest";

vi.useFakeTimers({ toFake: ["Date"] });

const limiter = middlewareLimiter({
  name: "express-rate-limit",
  refused: "counted",
  create: ({ limit, windowMs }) => rateLimit({ limit, windowMs, standardHeaders: "draft-7" }),
  setNow: (nowMs) => vi.setSystemTime(nowMs),
});

describeLimiter(test, limiter);
