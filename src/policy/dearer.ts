// Raises the cost of a sample, for an operation whose cost the request declares.
import { isPlainObject } from "../rules/plain-object.ts";
import { pointedPlace } from "../rules/pointer.ts";
import type { CallSample } from "./policy.ts";

/** Returns a sample of that cost; the same sample if its cost cannot be raised. */
export function dearer(sample: CallSample, cost: number): CallSample {
  const { dearer: by, body } = sample;
  if (by === undefined || cost === sample.cost || !isPlainObject(body)) return sample;
  const more = (cost - sample.cost) / by.costEach;
  const copy: unknown = JSON.parse(JSON.stringify(body));
  const place = pointedPlace(copy, by.pointer);
  if (place === null) return sample;
  const { holder, name } = place;
  holder[name] = ((holder[name] as number | undefined) ?? 0) + more;
  return { ...sample, body: copy };
}
