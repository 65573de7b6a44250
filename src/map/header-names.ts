// Names of headers → the number that each shows, and its quota.

export type FieldRole = "limit" | "remaining" | "used" | "reset" | "window" | "quota" | "policy" | "retry";

export interface NamedField {
  readonly role: FieldRole;
  /** Words that tell quotas apart: `requests` of `x-ratelimit-limit-requests`. Empty if there is one quota. */
  readonly label: string;
}

const wordsOfRole: Readonly<Record<Exclude<FieldRole, "retry">, readonly string[]>> = {
  limit: ["limit", "max", "maximum", "capacity", "total", "quota", "allowed"],
  remaining: ["remaining", "left", "available"],
  used: ["used", "observed", "consumed", "usage"],
  reset: ["reset", "resets", "resetafter", "resetat", "refresh"],
  window: ["window", "interval", "period"],
  quota: ["resource", "bucket", "name"],
  policy: ["policy"],
};

/** Periods by their words, seconds; and other words for them. */
const periods: Readonly<Record<string, number>> = { second: 1, minute: 60, hour: 3_600, day: 86_400 };
const periodWords: Readonly<Record<string, string>> = {
  secondly: "second",
  minutely: "minute",
  hourly: "hour",
  daily: "day",
  today: "day",
};
/** Units and kinds of a time, which do not tell quotas apart. */
const timeWords = ["time", "ms", "millis", "milliseconds", "seconds", "secs", "timestamp", "date", "size"];

const like =
  /rate-?limit|retry-(?:after|in)|quota|throttl|call-limit|limit-per-|-(?:remaining|reset)(?:-|$)/i;

/** Tells whether a header may show a limit. */
export const isLimitLike = (name: string): boolean => like.test(name) || /^limit-/i.test(name);

/** Word of a count in names such as `x-minute-limit`, which a remaining or a reset of the same name makes a limit's. */
const countWord = /(?<=^|-)(?:limit|used)(?=-|$)/;

/** Returns the names in lower case that may show a limit, by themselves or beside their `remaining` or `reset`. */
export function limitLikeAmong(names: ReadonlySet<string>): Set<string> {
  const isBeside = (name: string): boolean =>
    countWord.test(name) && ["remaining", "reset"].some((word) => names.has(name.replace(countWord, word)));
  return new Set([...names].filter((name) => isLimitLike(name) || isBeside(name)));
}

/** Returns what a name says; `null` if none of its words is known. */
export function namedField(name: string): NamedField | null {
  const words = name
    .toLowerCase()
    .replace(/rate-limit/g, "ratelimit")
    .replace(/reset-(after|at)\b/g, "reset$1")
    .replace(/\b(?:per|this)-(?=second|minute|hour|day)/g, "")
    .split(/[-_]/)
    .filter((word) => word !== "x" && word !== "")
    .map((word) => periodWords[word] ?? word);
  if (words.includes("retry")) return { role: "retry", label: "" };
  for (let at = words.length - 1; at >= 0; at--) {
    const role = (Object.keys(wordsOfRole) as (keyof typeof wordsOfRole)[]).find((each) =>
      wordsOfRole[each].includes(words[at] ?? ""),
    );
    if (role === undefined) continue;
    const isTime = role === "reset" || role === "window";
    const others = words.filter(
      (word, index) => index !== at && word !== "ratelimit" && !(isTime && timeWords.includes(word)),
    );
    return { role, label: others.join("_") };
  }
  const others = words.filter((word) => word !== "ratelimit");
  const isLimit =
    others.length < words.length && (others.length === 0 || periodOf(others.at(-1) ?? "") !== null);
  return isLimit ? { role: "limit", label: others.join("_") } : null;
}

/** Returns the seconds of the period that a label ends with: 86,400 for `app_24hour`; `null` if it names none. */
export function periodOf(label: string): number | null {
  const [, times = "", period = ""] = /(?:^|_)(\d{0,4})([a-z]+)$/.exec(label) ?? [];
  const seconds = (periods[period] ?? 0) * Number(times || 1);
  return seconds > 0 ? seconds : null;
}
