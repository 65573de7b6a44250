import type { Verdict } from "../verify/verdict.ts";

/** Exit status of a verdict. `unknown`: nothing could be judged. */
export const verdictStatus: Readonly<Record<Verdict["verdict"], number>> = { ok: 0, violated: 1, unknown: 2 };
