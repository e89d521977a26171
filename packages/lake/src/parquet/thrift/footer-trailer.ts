/** What ends a Parquet file: the footer, its length and the magic bytes. */
export function withTrailer(footer: Uint8Array): Uint8Array {
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(footer.length);
  trailer.write('PAR1', 4, 'latin1');
  return Buffer.concat([footer, trailer]);
}
