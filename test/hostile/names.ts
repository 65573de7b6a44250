// Names that somebody else chose: of organizations, users, clients, scenarios. Each stands wherever a format has a
// name (`formats.ts`); a new one joins by one line.

/** Text that no line may begin with. */
const forged = "FORGED: No law is broken";

/** Names by what they try. */
export const names: Readonly<Record<string, string>> = {
  markup: `"><script>alert(1)</script><img src=x onerror=alert(1)>`,
  "markup's end": "]]></style></script><!--",
  "a Markdown link": "[click](javascript:alert(1)) | `x` | **b**",
  "a spreadsheet's formula": '=HYPERLINK("http://127.0.0.1/","x")',
  "a path out of the folder": "../../../../outside/victim",
  "a path on Windows": "..\\..\\C:\\outside\\victim",
  "a prototype": "__proto__",
  "a prototype's member": "constructor",
  "a shell's command": "$(touch outside/victim); `touch outside/victim`",
  "an option": "--out=outside/victim",
  "half a character": "\ud800",
  "a hundred kinds of quotes": `'"\`´‘’“”«»`.repeat(10),
  "a terminal's codes": "\u001b[2J\u001b[1;1H\u001b]0;owned\u0007\b\u007f",
  "a terminal's codes in one character": "\u009b2J\u009d0;owned\u009c\u0085",
  "a terminal's colours": "\u001b[32mok\u001b[39m",
  "an order of reading": "\u202eko\u2066\u200f\u061c\u2069",
  "a line of its own": `x\r\n${forged}\r${forged}\u2028${forged}\v${forged}`,
  "a long one": `${"long ".repeat(5000)}end`,
  nothing: "",
};
