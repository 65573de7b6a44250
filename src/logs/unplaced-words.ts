// Words about rows that name no user, and about users whose organization no row names. The latter have their own windows,
// which is right only if their organization is none of the named ones.
import { shortName } from "../rules/printable.ts";
import { counted } from "../rules/words.ts";
import { EVERYONE } from "./callers.ts";
import { defaultOrganization } from "./rows.ts";

/** Tells how many rows name no user; returns nothing if all name one. */
export const anonymousWords = (anonymous: number): string =>
  anonymous === 0 ? "" : `No user stands in ${counted(anonymous, "row")}, counted for one user, ${EVERYONE}.`;

/**
 * Tells who was put apart, and which option corrects it; returns nothing if no user was, or all were.
 * @param organizations names of all organizations in the log
 */
export function unplacedWords(unplaced: number, organizations: Iterable<string>): string {
  const others = [...new Set(organizations)].filter((name) => name !== defaultOrganization);
  if (unplaced === 0 || others.length === 0) return "";
  const [first = ""] = others;
  const [whom, whose] = others.length === 1 ? [shortName(first), first] : ["the others", "SLUG"];
  const option = /^[\w.-]+$/.test(whose) ? ` ${whose}` : " SLUG";
  return `No row names the organization of ${counted(unplaced, "user")}: they are in one of their own, ${defaultOrganization}, apart from ${whom}. --organization${option} puts them there.`;
}
