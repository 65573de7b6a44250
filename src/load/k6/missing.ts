// The functions of a browser's that k6 lacks, and the parsers of a bundle call.
import { b64decode } from "k6/encoding";

// Structured fields hold bytes in base64 (RFC 9651 §4.2.7): express-rate-limit's partition key is one.
globalThis.atob ??= (text: string): string =>
  [...new Uint8Array(b64decode(text))].map((byte) => String.fromCharCode(byte)).join("");
