// A seam through which nobody comes in between: what a limiter reaches its store through when calls follow each
// other.
import type { Seam } from "../engine/adapter.ts";

export const stillSeam: Seam = {
  over: (store) => store,
  pause: () => Promise.resolve(),
};
