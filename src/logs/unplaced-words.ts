// Words on users whose organization no row names: they have windows of their own, which is right only where theirs is
// another one.
import { shortName } from "../rules/printable.ts";
import { counted } from "../rules/words.ts";
import { defaultOrganization } from "./rows.ts";

/**
 * Says who was put apart, and which option mends it; nothing where nobody was, or all were.
 * @param organizations names of all that the log has
 */
export function unplacedWords(unplaced: number, organizations: Iterable<string>): string {
  const others = [...new Set(organizations)].filter((name) => name !== defaultOrganization);
  if (unplaced === 0 || others.length === 0) return "";
  const [first = ""] = others;
  const [whom, whose] = others.length === 1 ? [shortName(first), first] : ["the others", "SLUG"];
  const option = /^[\w.-]+$/.test(whose) ? ` ${whose}` : " SLUG";
  return `No row names the organization of ${counted(unplaced, "user")}: they are in one of their own, ${defaultOrganization}, apart from ${whom}. --organization${option} puts them there.`;
}
