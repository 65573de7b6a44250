// Lists of named quotas in structured fields (IETF drafts 08 to 11): `"burst";q=100;w=60`, `"burst";r=9;t=4`.
import { parseList } from "structured-headers";
import type { StructuredForm } from "../policy/wire-data.ts";
import { isPlainWord, type SeenAnswers } from "./seen.ts";

/** Parameters of the drafts, and the meaning of each. */
const parts: Readonly<Record<string, string>> = {
  q: "{limit}",
  w: "{window}",
  r: "{remaining}",
  t: "{reset}",
};

export interface StructuredFields {
  readonly headers: Readonly<Record<string, StructuredForm>>;
  /** Names of the quotas, each once. */
  readonly quotas: readonly string[];
}

/** Returns the headers whose every value is such a list, with the parameters seen; `null` if there is none. */
export function structuredFields(
  seen: readonly SeenAnswers[],
  secrets: ReadonlySet<string>,
): StructuredFields | null {
  const names = new Set(seen.flatMap(({ headers }) => Object.keys(headers)));
  const quotas = new Set<string>();
  const headers: Record<string, StructuredForm> = {};
  for (const name of names) {
    if (!/^(?:[a-z]{1,24}-){0,2}ratelimit(?:-policy)?$/.test(name)) continue;
    const members = seen.flatMap((each) => membersOf(each.headers[name]));
    const found = members.every((each) => each !== null && isPlainWord(each.quota, secrets)) ? members : [];
    const known = Object.entries(parts).filter(([key]) => found.some((each) => each?.keys.includes(key)));
    if (known.length === 0) continue;
    headers[name] = { list: { ".": "{quota}", ...Object.fromEntries(known) } };
    for (const each of found) if (each !== null) quotas.add(each.quota);
  }
  return quotas.size === 0 ? null : { headers, quotas: [...quotas] };
}

interface Member {
  readonly quota: string;
  readonly keys: readonly string[];
}

/** Returns the members that are strings with parameters, and `null` in place of any other member. */
function membersOf(text: string | undefined): (Member | null)[] {
  if (text === undefined) return [];
  try {
    return parseList(text).map(([quota, parameters]) =>
      typeof quota === "string"
        ? { quota, keys: [...(parameters as ReadonlyMap<string, unknown>).keys()] }
        : null,
    );
  } catch {
    return [null];
  }
}
