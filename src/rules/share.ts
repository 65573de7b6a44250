// Shares as people write them: `5%`, `0.05`.

/** Reads a share. @returns 0 or more, 1 for `100%`; `null` if the text is no share */
export function parseShare(text: string): number | null {
  const [, amount, percent] = /^(\d+(?:\.\d+)?)\s*(%?)$/.exec(text.trim()) ?? [];
  return amount === undefined ? null : Number(amount) / (percent === "%" ? 100 : 1);
}

/** Returns a share with all its digits: `1.25%`. */
export const exactShare = (share: number): string => `${Number((share * 100).toPrecision(12))}%`;
