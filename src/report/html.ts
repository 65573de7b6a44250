// HTML that is safe from injection: every value in a template is escaped, unless it is itself Html.
import { printableLines } from "../rules/printable.ts";

/** A piece of finished markup. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

// XML 1.0 cannot carry these characters.
const noCharacters = /[\ufffe\uffff]/g;

/** Returns text for HTML or XML, between tags or in a quoted attribute. */
export function escapeMarkup(text: string): string {
  return printableLines(text)
    .replace(noCharacters, "\ufffd")
    .replace(/[&<>"']/g, (character) => entities[character] ?? "");
}

export type HtmlContent = Html | string | number | null | readonly HtmlContent[];

function render(content: HtmlContent): string {
  if (content === null) return "";
  if (content instanceof Html) return content.text;
  return Array.isArray(content) ? content.map(render).join("") : escapeMarkup(String(content));
}

/** Returns a template with its values escaped. `null` becomes nothing, and lists are joined. */
export function html(parts: TemplateStringsArray, ...values: readonly HtmlContent[]): Html {
  return new Html(parts.map((part, index) => part + render(values[index] ?? null)).join(""));
}

/** Returns markup that was made elsewhere and is known to be safe, such as a drawing. */
export const trusted = (text: string): Html => new Html(text);
