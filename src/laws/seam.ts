// A seam that lets no other call in between. A limiter reaches its store through this seam when calls do not overlap.
import type { Seam } from "../engine/adapter.ts";

export const stillSeam: Seam = {
  over: (store) => store,
  pause: () => Promise.resolve(),
};
