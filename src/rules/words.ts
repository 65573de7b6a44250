// Numbers and nouns in sentences, the same on every machine: no locale.

/** Returns a number as `1,234`; with up to three decimals if it has any. */
export function count(value: number): string {
  const [whole = "0", decimals] = String(Math.round(value * 1000) / 1000).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return decimals === undefined ? grouped : `${grouped}.${decimals}`;
}

/** Returns a text that begins with a capital letter. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** Returns `1 call`, `2 calls`, `1,234 entries`. @param many an irregular plural: `laws are` of `law is` */
export const counted = (value: number, one: string, many?: string): string =>
  `${count(value)} ${nounOf(value, one, many)}`;

/** Returns `1 request`, `2 requests`. @param units a plural */
export const countOf = (value: number, units: string): string =>
  counted(value, units.replace(/s$/, ""), units);

/** Returns the noun that goes with a number: `call` with 1, `calls` with any other. */
export const nounOf = (value: number, one: string, many = pluralOf(one)): string =>
  value === 1 ? one : many;

const pluralOf = (noun: string): string => (/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`);

/** Returns the name of a day of the week, `Monday`, in UTC. */
export const weekdayName = (ms: number): string =>
  new Date(ms).toLocaleDateString("en-US", { weekday: "long", timeZone: "UTC" });

/** Returns `a`, `a and b`, `a, b and c`. */
export const listText = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
