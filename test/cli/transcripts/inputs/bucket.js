// A token bucket that lets one more through than it holds.
import { keyedLimiter } from "spillway/laws";

export default keyedLimiter({
  name: "leaky bucket",
  algorithm: "token-bucket",
  create({ limit, windowMs }) {
    const levels = new Map();
    return {
      consume(key, cost, nowMs) {
        const { left, atMs } = levels.get(key) ?? { left: limit + 1, atMs: nowMs };
        const now = Math.min(limit + 1, left + ((nowMs - atMs) * limit) / windowMs);
        const allowed = now >= cost;
        levels.set(key, { left: allowed ? now - cost : now, atMs: nowMs });
        return { allowed, retryAfterMs: allowed ? undefined : ((cost - now) * windowMs) / limit };
      },
    };
  },
});
