// Functions of browsers that k6 lacks, and that the parsers in a bundle call.
import { b64decode } from "k6/encoding";

// Structured fields hold bytes in base64 (RFC 9651 §4.2.7), such as express-rate-limit's partition key.
globalThis.atob ??= (text: string): string =>
  [...new Uint8Array(b64decode(text))].map((byte) => String.fromCharCode(byte)).join("");
