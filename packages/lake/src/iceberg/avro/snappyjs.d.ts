declare module 'snappyjs' {
  const snappy: {
    /** Throws an Error when the data is no Snappy block, or longer than `maxLength`. */
    uncompress(compressed: Uint8Array, maxLength?: number): Uint8Array;
    compress(uncompressed: Uint8Array): Uint8Array;
  };
  export = snappy;
}
