// Calls under way are counted, and one that ends gives back two.
import { keyedLimiter } from "spillway/laws";

export default keyedLimiter({
  name: "generous slots",
  algorithm: "concurrency",
  create({ limit }) {
    const counts = new Map();
    return {
      consume(key) {
        const count = counts.get(key) ?? 0;
        if (count >= limit) return { allowed: false };
        counts.set(key, count + 1);
        return { allowed: true };
      },
      release(key) {
        counts.set(key, (counts.get(key) ?? 0) - 2);
      },
    };
  },
});
