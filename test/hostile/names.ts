// Names that somebody else chose: of organizations, users, clients, scenarios. Each stands wherever a format has a
// name (`formats.ts`); a new one joins by one line.

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
  nothing: "",
};
