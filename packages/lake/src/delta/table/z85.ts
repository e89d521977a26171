const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#';
const values: ReadonlyMap<string, number> = new Map([...alphabet].map((letter, index) => [letter, index]));

/** Decodes Z85, the Base85 of ZeroMQ's RFC 32: five letters are four bytes. `undefined` when it is none. */
export function decodeZ85(text: string): Uint8Array | undefined {
  if (text.length % 5 !== 0) return undefined;
  const bytes = Buffer.alloc((text.length / 5) * 4);
  for (let group = 0; group * 5 < text.length; group++) {
    let number = 0;
    for (const letter of text.slice(group * 5, group * 5 + 5)) {
      const value = values.get(letter);
      if (value === undefined) return undefined;
      number = number * 85 + value;
    }
    if (number >= 2 ** 32) return undefined;
    bytes.writeUInt32BE(number, group * 4);
  }
  return bytes;
}
