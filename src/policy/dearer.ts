// Raises the cost of a sample, for an operation whose cost the request declares.
import { isPlainObject } from "../rules/plain-object.ts";
import { pointerWords } from "../rules/pointer.ts";
import type { CallSample } from "./policy.ts";

/** Returns a sample of that cost; the same sample if its cost cannot be raised. */
export function dearer(sample: CallSample, cost: number): CallSample {
  const { dearer: by, body } = sample;
  if (by === undefined || cost === sample.cost || !isPlainObject(body)) return sample;
  const more = (cost - sample.cost) / by.costEach;
  const copy = JSON.parse(JSON.stringify(body)) as Record<string, unknown>;
  const path = pointerWords(by.pointer) ?? [];
  const last = path.at(-1) ?? "";
  let at: unknown = copy;
  for (const step of path.slice(0, -1)) at = (at as Record<string, unknown>)[step];
  const holder = at as Record<string, number>;
  holder[last] = (holder[last] ?? 0) + more;
  return { ...sample, body: copy };
}
