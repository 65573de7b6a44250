// A window whose caller is told to wait too short a time, and that shows its status.
import { keyedLimiter } from "spillway/laws";

export default keyedLimiter({
  name: "hasty window",
  algorithm: "fixed-window",
  create({ limit, windowMs }) {
    const windows = new Map();
    const windowOf = (key, nowMs) => {
      const known = windows.get(key);
      return known?.resetAt > nowMs ? known : { count: 0, resetAt: nowMs + windowMs };
    };
    const shown = ({ count, resetAt }) => ({ limit, current: count, remaining: limit - count, resetAt });
    return {
      consume(key, cost, nowMs) {
        const window = windowOf(key, nowMs);
        const allowed = window.count + cost <= limit;
        if (allowed) window.count += cost;
        windows.set(key, window);
        return {
          allowed,
          ...shown(window),
          retryAfterMs: allowed ? undefined : (window.resetAt - nowMs) / 2,
        };
      },
      peek: (key, nowMs) => shown(windowOf(key, nowMs)),
    };
  },
});
