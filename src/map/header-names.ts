// Names of headers → the number that each shows, and of which quota.

export type FieldRole = "limit" | "remaining" | "used" | "reset" | "quota" | "policy" | "retry";

export interface NamedField {
  readonly role: FieldRole;
  /** Words that tell quotas apart: `requests` of `x-ratelimit-limit-requests`. Empty where there is one. */
  readonly label: string;
}

const wordsOfRole: Readonly<Record<Exclude<FieldRole, "retry">, readonly string[]>> = {
  limit: ["limit", "max", "maximum", "capacity", "total", "quota", "allowed"],
  remaining: ["remaining", "left", "available"],
  used: ["used", "observed", "consumed", "usage"],
  reset: ["reset", "resets", "resetafter", "resetat", "refresh"],
  quota: ["resource", "bucket", "name"],
  policy: ["policy"],
};

const like = /rate-?limit|retry-(?:after|in)|quota|throttl|call-limit|-(?:remaining|reset)(?:-|$)/i;

/** Tells whether a header may show a limit. */
export const isLimitLike = (name: string): boolean => like.test(name) || /^limit-/i.test(name);

/** Returns what a name says; `null` where no word of it is known. */
export function namedField(name: string): NamedField | null {
  const words = name
    .toLowerCase()
    .replace(/rate-limit/g, "ratelimit")
    .replace(/reset-(after|at)\b/g, "reset$1")
    .split(/[-_]/)
    .filter((word) => word !== "x" && word !== "");
  if (words.includes("retry")) return { role: "retry", label: "" };
  for (let at = words.length - 1; at >= 0; at--) {
    const role = (Object.keys(wordsOfRole) as (keyof typeof wordsOfRole)[]).find((each) =>
      wordsOfRole[each].includes(words[at] ?? ""),
    );
    if (role === undefined) continue;
    const others = words.filter((word, index) => index !== at && word !== "ratelimit");
    return { role, label: others.join("_") };
  }
  return words.length === 1 && words[0] === "ratelimit" ? { role: "limit", label: "" } : null;
}
