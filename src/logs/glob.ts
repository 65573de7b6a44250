// Globs, matched in one pass: all ways through the pattern are followed at once, so that no pattern takes long.

const [slash, star, question] = [0x2f, 0x2a, 0x3f] as const;

/** Part of a pattern. `one` and `many` stop at a slash; `deep` is any number of whole folders, each with its slash. */
type Part =
  | { readonly kind: "one" | "many" | "all" | "deep" }
  | { readonly kind: "code"; readonly code: number };

/**
 * Returns a matcher of whole paths: `*` matches any characters but slashes, `?` one of them, `**` any characters. The
 * time is at most the length of the path times that of the glob.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const parts = partsOf(glob);
  return (path) => {
    let here = new Set<number>();
    enter(parts, here, 0);
    for (let at = 0; at < path.length && here.size > 0; at++) {
      const next = new Set<number>();
      for (const place of here) pass(parts, next, place, path.charCodeAt(at));
      here = next;
    }
    return here.has(parts.length);
  };
}

function partsOf(glob: string): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < glob.length; at++) {
    const code = glob.charCodeAt(at);
    if (code === question) parts.push({ kind: "one" });
    else if (code !== star) parts.push({ kind: "code", code });
    else if (glob.charCodeAt(at + 1) !== star) parts.push({ kind: "many" });
    else {
      const isFolders = glob.charCodeAt(at + 2) === slash;
      parts.push({ kind: isFolders ? "deep" : "all" });
      at += isFolders ? 2 : 1;
    }
  }
  return parts;
}

/** Adds a place in the pattern, and the places behind it that are reached without a character. */
function enter(parts: readonly Part[], places: Set<number>, place: number): void {
  places.add(place);
  const kind = parts[place]?.kind;
  if (kind === "many" || kind === "all" || kind === "deep") enter(parts, places, place + 1);
}

/** Adds the places that a character leads to. */
function pass(parts: readonly Part[], places: Set<number>, place: number, code: number): void {
  const part = parts[place];
  if (part === undefined) return;
  const isSlash = code === slash;
  if (part.kind === "code") {
    if (part.code === code) enter(parts, places, place + 1);
  } else if (part.kind === "one") {
    if (!isSlash) enter(parts, places, place + 1);
  } else if (part.kind === "deep") {
    places.add(place);
    if (isSlash) enter(parts, places, place + 1);
  } else if (part.kind === "all" || !isSlash) enter(parts, places, place);
}
