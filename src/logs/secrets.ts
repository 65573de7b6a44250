// Keeps tokens in logs secret: callers known by a token are named by its fingerprint. In lines that are shown, whatever
// looks like a token is struck out, rather too much than too little.

/** Returns a token's digest in hexadecimal, at least 16 digits, the same on any machine. */
export type Digest = (token: string) => string;

/** Beginnings of tokens of well-known services. */
const known = /^(?:bkua_|bkpat_|gh[opsur]_|github_pat_|glpat-|sk-|pk_|xox[abprs]-|eyJ[A-Za-z0-9_-]{8,}\.)/;
const scheme = /^(?:bearer|token|basic)\s+/i;
const uuid = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/i;

/** Tells whether a caller's name is probably a secret. It is then shown as a fingerprint, whatever its column's name. */
export function looksSecret(text: string): boolean {
  if (scheme.test(text) || known.test(text)) return true;
  return text.length >= 24 && !uuid.test(text) && isRandom(text) && /^[\w.~+=-][\w.~+/=-]+$/.test(text);
}

const isRandom = (text: string): boolean => /\d/.test(text) && /[A-Za-z]/.test(text);

/** Returns a token without the scheme in front of it: `Bearer abc` and `abc` are the same caller. */
export const bareToken = (text: string): string => text.trim().replace(scheme, "");

const struck = "***";
/** Pattern of named secrets. Words match from their beginning only: a long one would take its length squared. */
const named =
  /((?<![\w-])(?=[\w-]*?(?:token|secret|passw(?:or)?d|api[-_]?key|authorization|credential|session|cookie))[\w-]+["']?\s*[:=]\s*["']?(?:(?:bearer|token|basic)\s+)?)[^\s"'&,;}]+/gi;
const userInfo = /(\/\/)[^/\s"@]+@/g;

/**
 * Returns a line as it may be shown.
 * @param strict true if a column holds tokens at an unknown place in this line: strikes out every longer word
 */
export function withoutSecrets(line: string, strict: boolean): string {
  return line
    .replace(/\b(bearer|basic)\s+[^\s"',;]+/gi, `$1 ${struck}`)
    .replace(named, `$1${struck}`)
    .replace(userInfo, `$1${struck}@`)
    .replace(/[\w~+=.-]+/g, (word) => (isShown(word, strict) ? word : struck));
}

/** Tells whether a word may be shown. Times may: what is wrong with a line is mostly there. */
function isShown(word: string, strict: boolean): boolean {
  if (/^[\d.+-]+(?:T[\d.]+)?Z?$/.test(word) && word.length < 24) return true;
  if (known.test(word)) return false;
  return strict ? word.length < 6 : word.length < 20 || uuid.test(word) || !isRandom(word);
}
